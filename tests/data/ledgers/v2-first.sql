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
  PRIMARY KEY (surt, at, record_id)
) WITHOUT ROWID;
INSERT INTO "captures" VALUES('example,harbour-gazette)/',1794839899989518,'79fe4f0d-fb44-4d03-8d2f-b92b66f5afa9','http://harbour-gazette.example/','response',200,'text/html','sha256:YNH5ADIW52H3VSVLGK6FEF6RBGZDJI6WSW52XN6XAWX2A3EE7UEQ====','sha256:B6UOOMITJHH65JJ5L355DKZKD7M5Y74L4W7RVQGMJIALWAELQL3Q====',1263,1,4631,1981,'"0-e463229b-gzip"',1777951487000000,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "captures" VALUES('example,harbour-gazette)/css/gazette.css',1794839900360485,'7e364cc5-895c-4cd1-a463-b0316563ae42','http://harbour-gazette.example/css/gazette.css','response',200,'text/css','sha256:EKOJ7JY44YY7VCR5TG2PAP2662HADJEVNFEFN5QGODVS7Y7SI2DQ====','sha256:6UIA6SV6OS7QOWWDTGEKBY73UICVMDZKRXYQO6BBBVK2EUC7A3RA====',1703,1,17180,2420,'"0-c3cf64ec-gzip"',1788156856000000,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "captures" VALUES('example,harbour-gazette)/favicon.svg',1794839900237438,'3cc67a75-3302-439c-8a8a-217f0060644b','http://harbour-gazette.example/favicon.svg','response',200,'image/svg+xml','sha256:FARQD4QIYTF75BFC52LLFQN4B45BU5YA24BPCKPPGKO3KS3UPYPQ====','sha256:BVJCW6BG3VJ77KZPYQHVKWN4BBI3INCPXVHKLOIGPGKCREIYHT7A====',216,1,13642,932,'"0-514689b9-gzip"',1788821840000000,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "captures" VALUES('example,harbour-gazette)/robots.txt',1794839899865546,'3d64956c-60e5-4904-8b2e-129c68a87ae0','http://harbour-gazette.example/robots.txt','response',200,'text/plain','sha256:PC7S2VYHUJ3J3GLQ6B6M6MKY3LYLPNTTMBPEHTAHZWF7JXY4XSYQ====','sha256:BVIXEGSYEK76ISV3GPMCAYGR4QTBJ6DNJEDO22AQT36H4M4GRSMQ====',98,1,1315,824,'"0-be34ee1e-gzip"',1786972136000000,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "captures" VALUES('example,harbour-gazette)/sitemap.xml',1794839900113927,'dafab645-414d-4153-8b5f-ee3f780caf35','http://harbour-gazette.example/sitemap.xml','response',200,'application/xml','sha256:TV6BI2AB6IUZVL3VZ5ABOEIK2VJXS2ROGNKZFH26NAQ2F2424CGA====','sha256:X27QMSXXQSAGORWUXYTACGBAFIEA3HNYEFH3T3ENVQPRS4TX6OGQ====',280,1,10077,961,'"1783118433-c30dd29d-gzip"',NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "captures" VALUES('example,hill-courier)/',1794839899989811,'f419c8a1-e3b8-47ce-a37b-cca57299bf46','http://hill-courier.example/','response',200,'text/html','sha256:NQEY5BXLQ5YWSWJIHASNWLNZU6AT5RKHRSWP743GILZLJHFSFB4Q====','sha256:I2MHJHJQCMNRXACNZSCQG7TSBMSSMQDKMIZLQGIUUK63AOTBCIIQ====',1136,1,7415,1851,'"0-7041daa0-gzip"',1771012576000000,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "captures" VALUES('example,hill-courier)/css/gazette.css',1794839900366249,'91219d4b-5770-4082-8e6f-6bb2b2ad0bc4','http://hill-courier.example/css/gazette.css','response',200,'text/css','sha256:2IGFCE7J775WQWZS2N4KL2FLE42ADR4ZC3COEZ7IV6SIKBPMQ76Q====','sha256:3KAX7PBP4GD5YRP6PTV4OA45IM6XA3R5YGXR6BZUC4HM24FXTRMQ====',1701,1,20441,2415,'"0-b864b8c7-gzip"',1782509221000000,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "captures" VALUES('example,hill-courier)/favicon.svg',1794839900239587,'123d16f6-e871-40ad-81a3-883685130d78','http://hill-courier.example/favicon.svg','response',200,'image/svg+xml','sha256:E4SMAQU5TZUIPQMSZDMTPKGQYOGU7WOLTYEC5QLAM3VX7OLAUSQA====','sha256:YODKOSOI4Z25QG6UOOSBS23SP4D65FXRGJWNKY6CE3G33Y2ZO7VA====',216,1,15413,929,'"0-ab034f4e-gzip"',1770726218000000,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "captures" VALUES('example,hill-courier)/robots.txt',1794839899866268,'885bcc3f-faa7-4488-bc0d-0b83c47a371c','http://hill-courier.example/robots.txt','response',200,'text/plain','sha256:7MAUESLDDVXCRL7VROIHA5Y3PIHDSSOCW6MNWQULYZPUSNUSO5ZQ====','sha256:B7K37GDESRIVQ2DZQP43TA4TW5DRZUDBGV24CZSGPM7INMMJSTKA====',96,1,2979,819,'"0-566eeea0-gzip"',1789549689000000,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "captures" VALUES('example,hill-courier)/sitemap.xml',1794839900114271,'7cf737d1-a51c-4e37-a330-ba060095d624','http://hill-courier.example/sitemap.xml','response',200,'application/xml','sha256:PFE6ZWWRME556W7JJL6VPWZE43ZXRYCQGL7XYRBVSUCGHKMOT2DQ====','sha256:XKYQ4I2BKJK6IQBYNPPUMPIMPNGF2PZFVQAETO55XPMJUMLBIPNQ====',237,1,11882,915,'"3636991973-8e1524f9-gzip"',NULL,NULL,NULL,NULL,NULL,NULL,NULL);
CREATE TABLE crawls (
  no INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  seeds TEXT NOT NULL,
  started INTEGER NOT NULL,
  ended INTEGER,
  state TEXT NOT NULL,
  settings TEXT NOT NULL,
  note TEXT NOT NULL DEFAULT '',
  memory TEXT NOT NULL DEFAULT ''
);
INSERT INTO "crawls" VALUES(1,'20261116143819-3263','["http://harbour-gazette.example/", "http://hill-courier.example/"]',1794839899856337,1794839900372675,'interrupted','{"preset": null, "scope": "host", "rules": [], "include": [], "exclude": [], "depth": 1, "requisites": true, "sitemaps": true, "feeds": true, "guesses": true, "traps": true, "robots": "obey", "allow_private": false, "max_pages": null, "max_bytes": null, "max_pages_per_host": null, "max_bytes_per_host": null, "time_limit": null, "disk_reserve": 200000000, "delay": 0.12, "delay_factor": 1.0, "max_crawl_delay": 60.0, "retries": 2, "retry_delay": 30.0, "concurrency": 128, "user_agent": "asof/0.1 (web archive)", "connect_timeout": 20.0, "idle_timeout": 30.0, "fetch_timeout": 600.0, "max_body": 1073741824, "verify_tls": true, "proxy": "http://127.0.0.1:39787", "cookies": false, "conditional": true, "segment_bytes": 1000000000, "group_records": 2, "group_seconds": 1.0}','{"bytes": 8490, "captured": 10, "ended_by": "interrupted", "failed": 0, "left_out": 0, "queued": 14, "reasons": {}, "seconds": 0.506}','[["host", "harbour-gazette.example", 1, 0, 0, 0, 0, 0, ""], ["host", "hill-courier.example", 1, 0, 0, 0, 0, 0, ""]]');
CREATE TABLE payloads (
  key INTEGER PRIMARY KEY,
  segment INTEGER NOT NULL REFERENCES segments(no),
  offset INTEGER NOT NULL
);
INSERT INTO "payloads" VALUES(155877739609350943,1,17180);
INSERT INTO "payloads" VALUES(176286916186597000,1,15413);
INSERT INTO "payloads" VALUES(180759845296426175,1,13642);
INSERT INTO "payloads" VALUES(486556883813431062,1,7415);
INSERT INTO "payloads" VALUES(543795178557286249,1,1315);
INSERT INTO "payloads" VALUES(546236061028062141,1,11882);
INSERT INTO "payloads" VALUES(709247974875538073,1,10077);
INSERT INTO "payloads" VALUES(879606007199623419,1,4631);
INSERT INTO "payloads" VALUES(945972599603593142,1,20441);
INSERT INTO "payloads" VALUES(1130425653841221346,1,2979);
CREATE TABLE segments (
  no INTEGER PRIMARY KEY,
  file TEXT NOT NULL UNIQUE,
  crawl INTEGER REFERENCES crawls(no),
  committed INTEGER NOT NULL,
  sealed INTEGER NOT NULL DEFAULT 0
);
INSERT INTO "segments" VALUES(1,'000001-20261116143819-3263.warc.gz',1,23245,0);
CREATE TABLE targets (
  no INTEGER PRIMARY KEY,
  crawl INTEGER NOT NULL REFERENCES crawls(no),
  key INTEGER NOT NULL,
  url TEXT NOT NULL,
  host TEXT NOT NULL,
  state TEXT NOT NULL,
  priority REAL NOT NULL,
  depth INTEGER NOT NULL,
  hops TEXT NOT NULL,
  via TEXT,
  tries INTEGER NOT NULL DEFAULT 0,
  not_before INTEGER NOT NULL DEFAULT 0,
  reason TEXT,
  UNIQUE (crawl, key)
);
INSERT INTO "targets" VALUES(1,1,-1791517564443590857,'http://harbour-gazette.example/','harbour-gazette.example','done',0.0,0,'',NULL,1,0,NULL);
INSERT INTO "targets" VALUES(2,1,5766617566685009583,'http://hill-courier.example/','hill-courier.example','done',0.0,0,'',NULL,1,0,NULL);
INSERT INTO "targets" VALUES(3,1,-6457734391795089773,'http://harbour-gazette.example/robots.txt','harbour-gazette.example','done',0.0,0,'P','http://harbour-gazette.example/',1,0,NULL);
INSERT INTO "targets" VALUES(4,1,3092884220101038912,'http://harbour-gazette.example/sitemap.xml','harbour-gazette.example','done',0.25,0,'M','http://harbour-gazette.example/robots.txt',1,0,NULL);
INSERT INTO "targets" VALUES(5,1,-5074541654807320115,'http://hill-courier.example/robots.txt','hill-courier.example','done',0.0,0,'P','http://hill-courier.example/',1,0,NULL);
INSERT INTO "targets" VALUES(6,1,-3685880345639544465,'http://hill-courier.example/sitemap.xml','hill-courier.example','done',0.25,0,'M','http://hill-courier.example/robots.txt',1,0,NULL);
INSERT INTO "targets" VALUES(7,1,-431015244655245248,'http://harbour-gazette.example/favicon.svg','harbour-gazette.example','done',-0.5,0,'E','http://harbour-gazette.example/',1,0,NULL);
INSERT INTO "targets" VALUES(8,1,372442826499858700,'http://harbour-gazette.example/css/gazette.css','harbour-gazette.example','done',-0.5,0,'E','http://harbour-gazette.example/',1,0,NULL);
INSERT INTO "targets" VALUES(9,1,1548589066988624899,'http://harbour-gazette.example/js/gazette.js','harbour-gazette.example','queued',-0.5,0,'E','http://harbour-gazette.example/',0,0,NULL);
INSERT INTO "targets" VALUES(10,1,-8332184550340918570,'http://harbour-gazette.example/img/plate-1.svg','harbour-gazette.example','queued',-0.5,0,'E','http://harbour-gazette.example/',0,0,NULL);
INSERT INTO "targets" VALUES(11,1,6365808374271091311,'http://harbour-gazette.example/news/1-blue-clock-new-rules-for-the-market-square','harbour-gazette.example','queued',1.0,1,'L','http://harbour-gazette.example/',0,0,NULL);
INSERT INTO "targets" VALUES(12,1,-3695122337242589750,'http://harbour-gazette.example/news/2-the-painted-parcel-of-the-ropewalk','harbour-gazette.example','queued',1.0,1,'L','http://harbour-gazette.example/',0,0,NULL);
INSERT INTO "targets" VALUES(13,1,3911901112817461493,'http://harbour-gazette.example/permalink/1','harbour-gazette.example','queued',1.0,1,'L','http://harbour-gazette.example/',0,0,NULL);
INSERT INTO "targets" VALUES(14,1,4985063406429505642,'http://harbour-gazette.example/lost/503','harbour-gazette.example','queued',1.0,1,'L','http://harbour-gazette.example/',0,0,NULL);
INSERT INTO "targets" VALUES(15,1,-3182633766858405902,'http://hill-courier.example/favicon.svg','hill-courier.example','done',-0.5,0,'E','http://hill-courier.example/',1,0,NULL);
INSERT INTO "targets" VALUES(16,1,7044312915221803492,'http://hill-courier.example/css/gazette.css','hill-courier.example','done',-0.5,0,'E','http://hill-courier.example/',1,0,NULL);
INSERT INTO "targets" VALUES(17,1,-7134755201234143039,'http://hill-courier.example/js/gazette.js','hill-courier.example','queued',-0.5,0,'E','http://hill-courier.example/',0,0,NULL);
INSERT INTO "targets" VALUES(18,1,1900270943321483377,'http://hill-courier.example/img/plate-1.svg','hill-courier.example','queued',-0.5,0,'E','http://hill-courier.example/',0,0,NULL);
INSERT INTO "targets" VALUES(19,1,7703265473544374281,'http://hill-courier.example/news/1-market-square-says-farewell-to-its-compass','hill-courier.example','queued',1.0,1,'L','http://hill-courier.example/',0,0,NULL);
INSERT INTO "targets" VALUES(20,1,7944881993915720043,'http://hill-courier.example/permalink/1','hill-courier.example','queued',1.0,1,'L','http://hill-courier.example/',0,0,NULL);
INSERT INTO "targets" VALUES(21,1,5214867207547998901,'http://hill-courier.example/lost/404','hill-courier.example','queued',1.0,1,'L','http://hill-courier.example/',0,0,NULL);
INSERT INTO "targets" VALUES(22,1,-7569012567989722581,'http://hill-courier.example/desk/draft-1','hill-courier.example','queued',1.0,1,'L','http://hill-courier.example/',0,0,NULL);
INSERT INTO "targets" VALUES(23,1,7199622122178538622,'http://harbour-gazette.example/img/paper.svg','harbour-gazette.example','queued',-0.5,0,'EE','http://harbour-gazette.example/css/gazette.css',0,0,NULL);
INSERT INTO "targets" VALUES(24,1,-6626427393997753560,'http://hill-courier.example/img/paper.svg','hill-courier.example','queued',-0.5,0,'EE','http://hill-courier.example/css/gazette.css',0,0,NULL);
CREATE INDEX targets_queue ON targets (crawl, host, priority, no) WHERE state = 'queued';
COMMIT;
PRAGMA user_version = 2;
