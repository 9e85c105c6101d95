BEGIN TRANSACTION;
CREATE TABLE captures (
  surt TEXT NOT NULL,
  at INTEGER NOT NULL,
  record_id TEXT NOT NULL,
  url TEXT NOT NULL,
  kind TEXT NOT NULL,
  status INTEGER,
  media_type TEXT,
  digest TEXT,
  content TEXT,
  size INTEGER NOT NULL,
  segment INTEGER NOT NULL REFERENCES segments(no),
  offset INTEGER NOT NULL,
  length INTEGER NOT NULL,
  etag TEXT,
  last_modified INTEGER,
  redirect TEXT,
  truncated TEXT,
  profile TEXT,
  refers_to_url TEXT,
  refers_to_at INTEGER,
  anomalies TEXT,
  age INTEGER,
  PRIMARY KEY (surt, at, record_id)
) WITHOUT ROWID;
INSERT INTO "captures" VALUES('example,harbour-gazette)/',1794962366801143,'83fd3480-c1f2-4900-a3a4-5429aec9a96e','http://harbour-gazette.example/','response',200,'text/html','sha256:U6DBYCXIHOXJ5Q3TGB7FYLSI27TCZFGRIMV53F2HHBNFNFHBI6WA====','sha256:FV5A2ED6V2MBLBEAOMF4GHBD7SCF2WOGRUCRLGJALBWQ5E3HDYKQ====',1256,1,4697,1976,'"133-e463229b-gzip"',1794314953000000,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "captures" VALUES('example,harbour-gazette)/css/gazette.css',1794962367111348,'5479a10e-7cf9-4038-bd20-9f55c23627d5','http://harbour-gazette.example/css/gazette.css','response',200,'text/css','sha256:EKOJ7JY44YY7VCR5TG2PAP2662HADJEVNFEFN5QGODVS7Y7SI2DQ====','sha256:6UIA6SV6OS7QOWWDTGEKBY73UICVMDZKRXYQO6BBBVK2EUC7A3RA====',1703,1,13663,2420,'"0-c3cf64ec-gzip"',1760542556000000,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "captures" VALUES('example,harbour-gazette)/favicon.svg',1794962366958750,'4a70e522-bdc0-4f77-8ffe-935d93e754b2','http://harbour-gazette.example/favicon.svg','response',200,'image/svg+xml','sha256:FARQD4QIYTF75BFC52LLFQN4B45BU5YA24BPCKPPGKO3KS3UPYPQ====','sha256:BVJCW6BG3VJ77KZPYQHVKWN4BBI3INCPXVHKLOIGPGKCREIYHT7A====',216,1,10127,932,'"0-514689b9-gzip"',1761207540000000,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "captures" VALUES('example,harbour-gazette)/img/plate-1.svg',1794962367422688,'e5925c14-252c-4657-a10c-f8b71d0fd8a6','http://harbour-gazette.example/img/plate-1.svg','response',200,'image/svg+xml','sha256:BJKIZMMDF43FVBGGVACKD2UB57LGA3ISUPATWDXBJSVQDL3UWRQA====','sha256:T6FIHB7JHW2XCIBMBQOZONXACELGKMEM4QTD5H65WECR6E65EXEA====',720,1,23481,1440,'"0-203e7b71-gzip"',1754057428000000,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "captures" VALUES('example,harbour-gazette)/js/gazette.js',1794962367269746,'0339a0ed-9baa-4b6f-9cca-b35a081b8404','http://harbour-gazette.example/js/gazette.js','response',200,'text/javascript','sha256:JN64P5YB2T2W4JPJBF4F5WGOT66N2MUMQXLPZHXCSHU7YSJVADLA====','sha256:4PSFAPF22VQA36HXIZRKAGMOEOE7DJSJEDJY3DGIRZMJBTJI536A====',290,1,20181,1010,'"0-ca5a2a4a-gzip"',1735106135000000,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "captures" VALUES('example,harbour-gazette)/robots.txt',1794962366636646,'d1c3c986-c4a6-4867-9dd7-ffe558c454ec','http://harbour-gazette.example/robots.txt','response',200,'text/plain','sha256:PC7S2VYHUJ3J3GLQ6B6M6MKY3LYLPNTTMBPEHTAHZWF7JXY4XSYQ====','sha256:BVIXEGSYEK76ISV3GPMCAYGR4QTBJ6DNJEDO22AQT36H4M4GRSMQ====',98,1,1374,824,'"0-be34ee1e-gzip"',1759357837000000,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "captures" VALUES('example,harbour-gazette)/sitemap.xml',1794962367574924,'7c384d14-27d1-4e34-a183-c93f59565d5f','http://harbour-gazette.example/sitemap.xml','response',200,'application/xml','sha256:EBH4QMBLJ5LEGKI6ZLMCRWMEC56YNML7BACDRUYHK75VGXHHYOHQ====','sha256:5DMDXOYZRIL7XC36ITCLBPWBYOCIH7CAKXHXPSUAXZD553NSQDFQ====',279,1,28043,960,'"1246159939-c30dd29d-gzip"',NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "captures" VALUES('example,hill-courier)/',1794962366807876,'42e414c2-25f5-4aac-aa68-11d2a2bdf43b','http://hill-courier.example/','response',200,'text/html','sha256:Y3EFUEHGZ7MB43U6MBAGXJXRLPVL3DHICBPJKKQJE5AET5CVXMCA====','sha256:RL7OMQ6UNDJ25QXUCUMJUJS77DAVE4FP2SSYR4J4IQQ366QUVVEQ====',1124,1,7476,1839,'"7-7041daa0-gzip"',1791238893000000,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "captures" VALUES('example,hill-courier)/css/gazette.css',1794962367137891,'db7a9f55-21a4-45b7-9775-976b0dbc5f07','http://hill-courier.example/css/gazette.css','response',200,'text/css','sha256:2IGFCE7J775WQWZS2N4KL2FLE42ADR4ZC3COEZ7IV6SIKBPMQ76Q====','sha256:3KAX7PBP4GD5YRP6PTV4OA45IM6XA3R5YGXR6BZUC4HM24FXTRMQ====',1701,1,16924,2415,'"0-b864b8c7-gzip"',1754894922000000,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "captures" VALUES('example,hill-courier)/favicon.svg',1794962366986084,'06d34b91-a83d-4691-9b7c-5ebe7576d2ce','http://hill-courier.example/favicon.svg','response',200,'image/svg+xml','sha256:E4SMAQU5TZUIPQMSZDMTPKGQYOGU7WOLTYEC5QLAM3VX7OLAUSQA====','sha256:YODKOSOI4Z25QG6UOOSBS23SP4D65FXRGJWNKY6CE3G33Y2ZO7VA====',216,1,11897,929,'"0-ab034f4e-gzip"',1743111918000000,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "captures" VALUES('example,hill-courier)/img/plate-1.svg',1794962367442293,'737f5278-0a34-40c6-bdf8-cd233947cbab','http://hill-courier.example/img/plate-1.svg','response',200,'image/svg+xml','sha256:GYAH2UI5PRXVO2MOLFEIMXZPTKWGARXB4G6ZXKK7LSVV6PITGKYQ====','sha256:UNZCLCSIUGE27DYJPF2USZSVWVIBKQKXNU6VIFDTTKD3I4LCYOFQ====',718,1,25764,1435,'"0-64908209-gzip"',1765340699000000,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "captures" VALUES('example,hill-courier)/js/gazette.js',1794962367290248,'2f87a159-9945-497b-96b2-4ed736c2d0fb','http://hill-courier.example/js/gazette.js','revisit',200,'text/javascript','sha256:JN64P5YB2T2W4JPJBF4F5WGOT66N2MUMQXLPZHXCSHU7YSJVADLA====',NULL,0,1,22034,603,'"0-957b3e0f-gzip"',1764691121000000,NULL,NULL,'identical-payload-digest','http://harbour-gazette.example/js/gazette.js',1794962367269746,NULL,NULL);
INSERT INTO "captures" VALUES('example,hill-courier)/robots.txt',1794962366642054,'ff26f78d-dd47-4c36-8231-e8246359b079','http://hill-courier.example/robots.txt','response',200,'text/plain','sha256:7MAUESLDDVXCRL7VROIHA5Y3PIHDSSOCW6MNWQULYZPUSNUSO5ZQ====','sha256:B7K37GDESRIVQ2DZQP43TA4TW5DRZUDBGV24CZSGPM7INMMJSTKA====',96,1,3044,819,'"0-566eeea0-gzip"',1761935389000000,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "captures" VALUES('example,hill-courier)/sitemap.xml',1794962367595616,'b9cdd523-c5e2-4335-b3f2-cc539d1d3e55','http://hill-courier.example/sitemap.xml','response',200,'application/xml','sha256:5DSFIQHDG6U7NFUT4F4MKJCCOIZIYA66F2ZKXU3ARN2S4G4BYKEA====','sha256:TVM26OY3VIGJIFENLDY64V2G2RRVLFK3FF4UHKJLSTTGSN3QDT5A====',236,1,29851,914,'"2252984282-8e1524f9-gzip"',NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
CREATE TABLE crawls (
  no INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  seeds TEXT NOT NULL,
  started INTEGER NOT NULL,
  ended INTEGER,
  state TEXT NOT NULL,
  settings TEXT NOT NULL,
  note TEXT NOT NULL DEFAULT '',
  memory TEXT NOT NULL DEFAULT '',
  course TEXT
);
INSERT INTO "crawls" VALUES(1,'20261118003926-6684','["http://harbour-gazette.example/", "http://hill-courier.example/"]',1794962366597930,1794962367645649,'interrupted','{"preset": null, "scope": "host", "rules": [], "include": [], "exclude": [], "depth": null, "requisites": true, "sitemaps": true, "feeds": true, "guesses": true, "traps": true, "text": true, "robots": "obey", "allow_private": false, "max_pages": null, "max_bytes": null, "max_pages_per_host": null, "max_bytes_per_host": null, "time_limit": null, "disk_reserve": 200000000, "delay": 0.15, "delay_factor": 1.0, "max_crawl_delay": 60.0, "retries": 2, "retry_delay": 2.0, "concurrency": 128, "coherence": "off", "plan": "auto", "eta": 0.6, "revisits": null, "audit": true, "trust_dates": "auto", "user_agent": "asof/0.1 (web archive)", "connect_timeout": 20.0, "idle_timeout": 30.0, "fetch_timeout": 600.0, "max_body": 1073741824, "verify_tls": true, "proxy": "http://127.0.0.1:39059", "cookies": false, "conditional": true, "segment_bytes": 1000000000, "group_records": 64, "group_seconds": 1.0}','{"bytes": 11389, "captured": 14, "ended_by": "interrupted", "failed": 0, "left_out": 0, "queued": 10, "reasons": {}, "revisited": 0, "seconds": 0.985, "to_revisit": 0}','[["host", "harbour-gazette.example", 1, 0, 0, 0, 0, 0, ""], ["host", "hill-courier.example", 1, 0, 0, 0, 0, 0, ""]]',NULL);
CREATE TABLE payloads (
  key INTEGER PRIMARY KEY,
  segment INTEGER NOT NULL REFERENCES segments(no),
  offset INTEGER NOT NULL
);
INSERT INTO "payloads" VALUES(46523408278811493,1,23481);
INSERT INTO "payloads" VALUES(145518727599027556,1,28043);
INSERT INTO "payloads" VALUES(155877739609350943,1,13663);
INSERT INTO "payloads" VALUES(176286916186597000,1,11897);
INSERT INTO "payloads" VALUES(180759845296426175,1,10127);
INSERT INTO "payloads" VALUES(243202991586789109,1,25764);
INSERT INTO "payloads" VALUES(339982736789688150,1,20181);
INSERT INTO "payloads" VALUES(543795178557286249,1,1374);
INSERT INTO "payloads" VALUES(754460417774041833,1,4697);
INSERT INTO "payloads" VALUES(895237352718138753,1,7476);
INSERT INTO "payloads" VALUES(945972599603593142,1,16924);
INSERT INTO "payloads" VALUES(1048851921822251679,1,29851);
INSERT INTO "payloads" VALUES(1130425653841221346,1,3044);
CREATE TABLE segments (
  no INTEGER PRIMARY KEY,
  file TEXT NOT NULL UNIQUE,
  crawl INTEGER REFERENCES crawls(no),
  committed INTEGER NOT NULL,
  sealed INTEGER NOT NULL DEFAULT 0
);
INSERT INTO "segments" VALUES(1,'000001-20261118003926-6684.warc.gz',1,31160,0);
CREATE TABLE targets (
  no INTEGER PRIMARY KEY,
  crawl INTEGER NOT NULL REFERENCES crawls(no),
  revisit INTEGER NOT NULL DEFAULT 0,
  key INTEGER NOT NULL,
  url TEXT NOT NULL,
  host TEXT NOT NULL,
  state TEXT NOT NULL,
  guess INTEGER NOT NULL DEFAULT 0,
  priority REAL NOT NULL,
  depth INTEGER NOT NULL,
  hops TEXT NOT NULL,
  via TEXT,
  tries INTEGER NOT NULL DEFAULT 0,
  not_before INTEGER NOT NULL DEFAULT 0,
  refused INTEGER NOT NULL DEFAULT 0,
  reason TEXT,
  UNIQUE (crawl, key, revisit)
);
INSERT INTO "targets" VALUES(1,1,0,-1791517564443590857,'http://harbour-gazette.example/','harbour-gazette.example','done',0,0.0,0,'',NULL,1,0,0,NULL);
INSERT INTO "targets" VALUES(2,1,0,5766617566685009583,'http://hill-courier.example/','hill-courier.example','done',0,0.0,0,'',NULL,1,0,0,NULL);
INSERT INTO "targets" VALUES(3,1,0,-6457734391795089773,'http://harbour-gazette.example/robots.txt','harbour-gazette.example','done',0,0.0,0,'P','http://harbour-gazette.example/',1,0,0,NULL);
INSERT INTO "targets" VALUES(4,1,0,3092884220101038912,'http://harbour-gazette.example/sitemap.xml','harbour-gazette.example','done',0,0.25,0,'M','http://harbour-gazette.example/robots.txt',1,0,0,NULL);
INSERT INTO "targets" VALUES(5,1,0,-5074541654807320115,'http://hill-courier.example/robots.txt','hill-courier.example','done',0,0.0,0,'P','http://hill-courier.example/',1,0,0,NULL);
INSERT INTO "targets" VALUES(6,1,0,-3685880345639544465,'http://hill-courier.example/sitemap.xml','hill-courier.example','done',0,0.25,0,'M','http://hill-courier.example/robots.txt',1,0,0,NULL);
INSERT INTO "targets" VALUES(7,1,0,-431015244655245248,'http://harbour-gazette.example/favicon.svg','harbour-gazette.example','done',0,-0.5,0,'E','http://harbour-gazette.example/',1,0,0,NULL);
INSERT INTO "targets" VALUES(8,1,0,372442826499858700,'http://harbour-gazette.example/css/gazette.css','harbour-gazette.example','done',0,-0.5,0,'E','http://harbour-gazette.example/',1,0,0,NULL);
INSERT INTO "targets" VALUES(9,1,0,1548589066988624899,'http://harbour-gazette.example/js/gazette.js','harbour-gazette.example','done',0,-0.5,0,'E','http://harbour-gazette.example/',1,0,0,NULL);
INSERT INTO "targets" VALUES(10,1,0,-8332184550340918570,'http://harbour-gazette.example/img/plate-1.svg','harbour-gazette.example','done',0,-0.5,0,'E','http://harbour-gazette.example/',1,0,0,NULL);
INSERT INTO "targets" VALUES(11,1,0,6365808374271091311,'http://harbour-gazette.example/news/1-blue-clock-new-rules-for-the-market-square','harbour-gazette.example','queued',0,1.0,1,'L','http://harbour-gazette.example/',0,0,0,NULL);
INSERT INTO "targets" VALUES(12,1,0,-3695122337242589750,'http://harbour-gazette.example/news/2-the-painted-parcel-of-the-ropewalk','harbour-gazette.example','queued',0,1.0,1,'L','http://harbour-gazette.example/',0,0,0,NULL);
INSERT INTO "targets" VALUES(13,1,0,3911901112817461493,'http://harbour-gazette.example/permalink/1','harbour-gazette.example','queued',0,1.0,1,'L','http://harbour-gazette.example/',0,0,0,NULL);
INSERT INTO "targets" VALUES(14,1,0,4985063406429505642,'http://harbour-gazette.example/lost/503','harbour-gazette.example','queued',0,1.0,1,'L','http://harbour-gazette.example/',0,0,0,NULL);
INSERT INTO "targets" VALUES(15,1,0,-3182633766858405902,'http://hill-courier.example/favicon.svg','hill-courier.example','done',0,-0.5,0,'E','http://hill-courier.example/',1,0,0,NULL);
INSERT INTO "targets" VALUES(16,1,0,7044312915221803492,'http://hill-courier.example/css/gazette.css','hill-courier.example','done',0,-0.5,0,'E','http://hill-courier.example/',1,0,0,NULL);
INSERT INTO "targets" VALUES(17,1,0,-7134755201234143039,'http://hill-courier.example/js/gazette.js','hill-courier.example','done',0,-0.5,0,'E','http://hill-courier.example/',1,0,0,NULL);
INSERT INTO "targets" VALUES(18,1,0,1900270943321483377,'http://hill-courier.example/img/plate-1.svg','hill-courier.example','done',0,-0.5,0,'E','http://hill-courier.example/',1,0,0,NULL);
INSERT INTO "targets" VALUES(19,1,0,7703265473544374281,'http://hill-courier.example/news/1-market-square-says-farewell-to-its-compass','hill-courier.example','queued',0,1.0,1,'L','http://hill-courier.example/',0,0,0,NULL);
INSERT INTO "targets" VALUES(20,1,0,7944881993915720043,'http://hill-courier.example/permalink/1','hill-courier.example','queued',0,1.0,1,'L','http://hill-courier.example/',0,0,0,NULL);
INSERT INTO "targets" VALUES(21,1,0,5214867207547998901,'http://hill-courier.example/lost/404','hill-courier.example','queued',0,1.0,1,'L','http://hill-courier.example/',0,0,0,NULL);
INSERT INTO "targets" VALUES(22,1,0,-7569012567989722581,'http://hill-courier.example/desk/draft-1','hill-courier.example','queued',0,1.0,1,'L','http://hill-courier.example/',0,0,0,NULL);
INSERT INTO "targets" VALUES(23,1,0,7199622122178538622,'http://harbour-gazette.example/img/paper.svg','harbour-gazette.example','queued',0,-0.5,0,'EE','http://harbour-gazette.example/css/gazette.css',0,0,0,NULL);
INSERT INTO "targets" VALUES(24,1,0,-6626427393997753560,'http://hill-courier.example/img/paper.svg','hill-courier.example','queued',0,-0.5,0,'EE','http://hill-courier.example/css/gazette.css',0,0,0,NULL);
CREATE INDEX targets_queue ON targets (crawl, revisit, host, guess, priority, no)
  WHERE state = 'queued';
COMMIT;
PRAGMA user_version = 5;
