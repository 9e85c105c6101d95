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
INSERT INTO "captures" VALUES('example,harbour-gazette)/',1794839898921616,'f49f91ba-5057-437b-9d1e-816c86d23ee5','http://harbour-gazette.example/','response',200,'text/html','sha256:YNH5ADIW52H3VSVLGK6FEF6RBGZDJI6WSW52XN6XAWX2A3EE7UEQ====','sha256:B6UOOMITJHH65JJ5L355DKZKD7M5Y74L4W7RVQGMJIALWAELQL3Q====',1263,1,4163,1876,'"0-e463229b-gzip"',1777951486000000,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "captures" VALUES('example,harbour-gazette)/css/gazette.css',1794839899173977,'2ab36f29-e264-49d8-88da-6b45cbce9019','http://harbour-gazette.example/css/gazette.css','response',200,'text/css','sha256:EKOJ7JY44YY7VCR5TG2PAP2662HADJEVNFEFN5QGODVS7Y7SI2DQ====','sha256:6UIA6SV6OS7QOWWDTGEKBY73UICVMDZKRXYQO6BBBVK2EUC7A3RA====',1703,1,12651,2310,'"0-c3cf64ec-gzip"',1788156855000000,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "captures" VALUES('example,harbour-gazette)/favicon.svg',1794839899047616,'de2b6440-6523-4053-b692-3feee424a53a','http://harbour-gazette.example/favicon.svg','response',200,'image/svg+xml','sha256:FARQD4QIYTF75BFC52LLFQN4B45BU5YA24BPCKPPGKO3KS3UPYPQ====','sha256:BVJCW6BG3VJ77KZPYQHVKWN4BBI3INCPXVHKLOIGPGKCREIYHT7A====',216,1,9406,783,'"0-514689b9-gzip"',1788821839000000,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "captures" VALUES('example,harbour-gazette)/js/gazette.js',1794839899299150,'5e86d5aa-1fb4-40a3-ac37-b5cff710c014','http://harbour-gazette.example/js/gazette.js','response',200,'text/javascript','sha256:VRVFDAXLMTMR3ZDFO56VCE4FHO5EJNHSIU7DLAM4IKXKKZD26C7A====','sha256:EGWSW7JILRFCZTMSBI4VLQBPWHWB26RZVVDPXVPFRN775CNDUXNQ====',343,1,18954,918,'"0-ca5a2a4a-gzip"',1762720434000000,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "captures" VALUES('example,harbour-gazette)/robots.txt',1794839898789282,'345a5698-8fd8-4307-a689-62165f290953','http://harbour-gazette.example/robots.txt','response',200,'text/plain','sha256:PC7S2VYHUJ3J3GLQ6B6M6MKY3LYLPNTTMBPEHTAHZWF7JXY4XSYQ====','sha256:BVIXEGSYEK76ISV3GPMCAYGR4QTBJ6DNJEDO22AQT36H4M4GRSMQ====',98,1,1218,639,'"0-be34ee1e-gzip"',1786972135000000,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "captures" VALUES('example,hill-courier)/',1794839898921919,'b1d373b3-3a39-4922-bf86-36236000c53d','http://hill-courier.example/','response',200,'text/html','sha256:NQEY5BXLQ5YWSWJIHASNWLNZU6AT5RKHRSWP743GILZLJHFSFB4Q====','sha256:I2MHJHJQCMNRXACNZSCQG7TSBMSSMQDKMIZLQGIUUK63AOTBCIIQ====',1136,1,6841,1752,'"0-7041daa0-gzip"',1771012575000000,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "captures" VALUES('example,hill-courier)/css/gazette.css',1794839899179144,'e66b4ac6-692a-4f03-ad60-d4d422977a6b','http://hill-courier.example/css/gazette.css','response',200,'text/css','sha256:2IGFCE7J775WQWZS2N4KL2FLE42ADR4ZC3COEZ7IV6SIKBPMQ76Q====','sha256:3KAX7PBP4GD5YRP6PTV4OA45IM6XA3R5YGXR6BZUC4HM24FXTRMQ====',1701,1,15802,2313,'"0-b864b8c7-gzip"',1782509220000000,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "captures" VALUES('example,hill-courier)/favicon.svg',1794839899055868,'f5f117c5-fb0c-410e-b815-23b31195e16d','http://hill-courier.example/favicon.svg','response',200,'image/svg+xml','sha256:E4SMAQU5TZUIPQMSZDMTPKGQYOGU7WOLTYEC5QLAM3VX7OLAUSQA====','sha256:YODKOSOI4Z25QG6UOOSBS23SP4D65FXRGJWNKY6CE3G33Y2ZO7VA====',216,1,11029,783,'"0-ab034f4e-gzip"',1770726217000000,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "captures" VALUES('example,hill-courier)/js/gazette.js',1794839899302332,'396f63bc-78fd-4f1e-93f2-78cf0069b7cd','http://hill-courier.example/js/gazette.js','response',200,'text/javascript','sha256:VRVFDAXLMTMR3ZDFO56VCE4FHO5EJNHSIU7DLAM4IKXKKZD26C7A====','sha256:EGWSW7JILRFCZTMSBI4VLQBPWHWB26RZVVDPXVPFRN775CNDUXNQ====',343,1,20709,922,'"0-957b3e0f-gzip"',1792305420000000,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "captures" VALUES('example,hill-courier)/robots.txt',1794839898790023,'cca54c56-8ac0-4bea-9724-0c74d03bda15','http://hill-courier.example/robots.txt','response',200,'text/plain','sha256:7MAUESLDDVXCRL7VROIHA5Y3PIHDSSOCW6MNWQULYZPUSNUSO5ZQ====','sha256:B7K37GDESRIVQ2DZQP43TA4TW5DRZUDBGV24CZSGPM7INMMJSTKA====',96,1,2699,631,'"0-566eeea0-gzip"',1789549688000000,NULL,NULL,NULL,NULL,NULL,NULL);
CREATE TABLE crawls (
  no INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  seeds TEXT NOT NULL,
  started INTEGER NOT NULL,
  ended INTEGER,
  state TEXT NOT NULL,
  settings TEXT NOT NULL,
  note TEXT NOT NULL DEFAULT ''
);
INSERT INTO "crawls" VALUES(1,'20261116143818-2345','["http://harbour-gazette.example/", "http://hill-courier.example/"]',1794839898779056,1794839899305190,'interrupted','{"scope": "host", "exclude": [], "depth": 1, "max_pages": null, "max_bytes": null, "time_limit": null, "robots": "obey", "delay": 0.12, "delay_factor": 1.0, "max_crawl_delay": 60.0, "retries": 3, "retry_delay": 30.0, "concurrency": 32, "user_agent": "asof/0.1 (web archive)", "connect_timeout": 20.0, "idle_timeout": 30.0, "fetch_timeout": 600.0, "max_body": 1073741824, "verify_tls": true, "proxy": "http://127.0.0.1:45413", "cookies": false, "segment_bytes": 1000000000, "group_records": 2, "group_seconds": 1.0}','{"bytes": 8733, "captured": 10, "ended_by": "interrupted", "failed": 0, "left_out": 0, "queued": 14, "reasons": {}, "seconds": 0.516}');
CREATE TABLE segments (
  no INTEGER PRIMARY KEY,
  file TEXT NOT NULL UNIQUE,
  crawl INTEGER REFERENCES crawls(no),
  committed INTEGER NOT NULL,
  sealed INTEGER NOT NULL DEFAULT 0
);
INSERT INTO "segments" VALUES(1,'000001-20261116143818-2345.warc.gz',1,22018,0);
CREATE TABLE targets (
  no INTEGER PRIMARY KEY,
  crawl INTEGER NOT NULL REFERENCES crawls(no),
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
  UNIQUE (crawl, url)
);
INSERT INTO "targets" VALUES(1,1,'http://harbour-gazette.example/','harbour-gazette.example','done',0.0,0,'',NULL,1,0,NULL);
INSERT INTO "targets" VALUES(2,1,'http://hill-courier.example/','hill-courier.example','done',0.0,0,'',NULL,1,0,NULL);
INSERT INTO "targets" VALUES(3,1,'http://harbour-gazette.example/robots.txt','harbour-gazette.example','done',0.0,0,'P','http://harbour-gazette.example/',1,0,NULL);
INSERT INTO "targets" VALUES(4,1,'http://hill-courier.example/robots.txt','hill-courier.example','done',0.0,0,'P','http://hill-courier.example/',1,0,NULL);
INSERT INTO "targets" VALUES(5,1,'http://harbour-gazette.example/favicon.svg','harbour-gazette.example','done',0.0,0,'E','http://harbour-gazette.example/',1,0,NULL);
INSERT INTO "targets" VALUES(6,1,'http://harbour-gazette.example/css/gazette.css','harbour-gazette.example','done',0.0,0,'E','http://harbour-gazette.example/',1,0,NULL);
INSERT INTO "targets" VALUES(7,1,'http://harbour-gazette.example/js/gazette.js','harbour-gazette.example','done',0.0,0,'E','http://harbour-gazette.example/',1,0,NULL);
INSERT INTO "targets" VALUES(8,1,'http://harbour-gazette.example/img/plate-1.svg','harbour-gazette.example','queued',0.0,0,'E','http://harbour-gazette.example/',0,0,NULL);
INSERT INTO "targets" VALUES(9,1,'http://harbour-gazette.example/news/1-blue-clock-new-rules-for-the-market-square','harbour-gazette.example','queued',1.0,1,'L','http://harbour-gazette.example/',0,0,NULL);
INSERT INTO "targets" VALUES(10,1,'http://harbour-gazette.example/news/2-the-painted-parcel-of-the-ropewalk','harbour-gazette.example','queued',1.0,1,'L','http://harbour-gazette.example/',0,0,NULL);
INSERT INTO "targets" VALUES(11,1,'http://harbour-gazette.example/permalink/1','harbour-gazette.example','queued',1.0,1,'L','http://harbour-gazette.example/',0,0,NULL);
INSERT INTO "targets" VALUES(12,1,'http://harbour-gazette.example/lost/503','harbour-gazette.example','queued',1.0,1,'L','http://harbour-gazette.example/',0,0,NULL);
INSERT INTO "targets" VALUES(13,1,'http://harbour-gazette.example/sitemap.xml','harbour-gazette.example','queued',1.0,1,'L','http://harbour-gazette.example/',0,0,NULL);
INSERT INTO "targets" VALUES(14,1,'http://hill-courier.example/favicon.svg','hill-courier.example','done',0.0,0,'E','http://hill-courier.example/',1,0,NULL);
INSERT INTO "targets" VALUES(15,1,'http://hill-courier.example/css/gazette.css','hill-courier.example','done',0.0,0,'E','http://hill-courier.example/',1,0,NULL);
INSERT INTO "targets" VALUES(16,1,'http://hill-courier.example/js/gazette.js','hill-courier.example','done',0.0,0,'E','http://hill-courier.example/',1,0,NULL);
INSERT INTO "targets" VALUES(17,1,'http://hill-courier.example/img/plate-1.svg','hill-courier.example','queued',0.0,0,'E','http://hill-courier.example/',0,0,NULL);
INSERT INTO "targets" VALUES(18,1,'http://hill-courier.example/news/1-market-square-says-farewell-to-its-compass','hill-courier.example','queued',1.0,1,'L','http://hill-courier.example/',0,0,NULL);
INSERT INTO "targets" VALUES(19,1,'http://hill-courier.example/permalink/1','hill-courier.example','queued',1.0,1,'L','http://hill-courier.example/',0,0,NULL);
INSERT INTO "targets" VALUES(20,1,'http://hill-courier.example/lost/404','hill-courier.example','queued',1.0,1,'L','http://hill-courier.example/',0,0,NULL);
INSERT INTO "targets" VALUES(21,1,'http://hill-courier.example/desk/draft-1','hill-courier.example','queued',1.0,1,'L','http://hill-courier.example/',0,0,NULL);
INSERT INTO "targets" VALUES(22,1,'http://hill-courier.example/sitemap.xml','hill-courier.example','queued',1.0,1,'L','http://hill-courier.example/',0,0,NULL);
INSERT INTO "targets" VALUES(23,1,'http://harbour-gazette.example/img/paper.svg','harbour-gazette.example','queued',0.0,0,'EE','http://harbour-gazette.example/css/gazette.css',0,0,NULL);
INSERT INTO "targets" VALUES(24,1,'http://hill-courier.example/img/paper.svg','hill-courier.example','queued',0.0,0,'EE','http://hill-courier.example/css/gazette.css',0,0,NULL);
CREATE INDEX targets_queue ON targets (crawl, host, priority, no) WHERE state = 'queued';
COMMIT;
PRAGMA user_version = 1;
