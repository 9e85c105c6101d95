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
INSERT INTO "captures" VALUES('example,harbour-gazette)/',1794839868672500,'4ebb2c96-b8a9-4be3-982e-4556b004e3dc','http://harbour-gazette.example/','response',200,'text/html','sha256:YNH5ADIW52H3VSVLGK6FEF6RBGZDJI6WSW52XN6XAWX2A3EE7UEQ====','sha256:B6UOOMITJHH65JJ5L355DKZKD7M5Y74L4W7RVQGMJIALWAELQL3Q====',1263,1,4173,1876,'"0-e463229b-gzip"',1777951456000000,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "captures" VALUES('example,harbour-gazette)/css/gazette.css',1794839868921367,'7333a105-090f-41e0-96fb-0c4be0fa48ff','http://harbour-gazette.example/css/gazette.css','response',200,'text/css','sha256:EKOJ7JY44YY7VCR5TG2PAP2662HADJEVNFEFN5QGODVS7Y7SI2DQ====','sha256:6UIA6SV6OS7QOWWDTGEKBY73UICVMDZKRXYQO6BBBVK2EUC7A3RA====',1703,1,12654,2311,'"0-c3cf64ec-gzip"',1788156825000000,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "captures" VALUES('example,harbour-gazette)/favicon.svg',1794839868798450,'bdead034-ea69-4f3d-b38f-44a46c9e8ba2','http://harbour-gazette.example/favicon.svg','response',200,'image/svg+xml','sha256:FARQD4QIYTF75BFC52LLFQN4B45BU5YA24BPCKPPGKO3KS3UPYPQ====','sha256:BVJCW6BG3VJ77KZPYQHVKWN4BBI3INCPXVHKLOIGPGKCREIYHT7A====',216,1,9407,788,'"0-514689b9-gzip"',1788821808000000,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "captures" VALUES('example,harbour-gazette)/img/paper.svg',1794839870791538,'d60a8def-412c-4938-99b1-df024af5df62','http://harbour-gazette.example/img/paper.svg','response',200,'image/svg+xml','sha256:WTTELHZOEOZLALU7ERLT4IMQ2ZB2JNSBWJJG6KCLH7JY2LXTBT2A====','sha256:PMDI5JU2N3QCKXETRHMN3BLHKNN6CIUBFJWFCCTFCADNI5B3XRLQ====',403,1,50491,993,'"0-c02bde1d-gzip"',1774052437000000,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "captures" VALUES('example,harbour-gazette)/img/plate-1.svg',1794839869168949,'98b03a0f-0bc7-48dd-9fa7-ee980ad667c5','http://harbour-gazette.example/img/plate-1.svg','response',200,'image/svg+xml','sha256:BJKIZMMDF43FVBGGVACKD2UB57LGA3ISUPATWDXBJSVQDL3UWRQA====','sha256:T6FIHB7JHW2XCIBMBQOZONXACELGKMEM4QTD5H65WECR6E65EXEA====',720,1,22467,1319,'"0-203e7b71-gzip"',1781671696000000,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "captures" VALUES('example,harbour-gazette)/js/gazette.js',1794839869045726,'0f4a019d-4c46-4ac3-8053-ef9561ada28c','http://harbour-gazette.example/js/gazette.js','response',200,'text/javascript','sha256:VRVFDAXLMTMR3ZDFO56VCE4FHO5EJNHSIU7DLAM4IKXKKZD26C7A====','sha256:EGWSW7JILRFCZTMSBI4VLQBPWHWB26RZVVDPXVPFRN775CNDUXNQ====',343,1,18960,914,'"0-ca5a2a4a-gzip"',1762720403000000,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "captures" VALUES('example,harbour-gazette)/lost/404',1794839871039516,'a262e88b-3346-4ef4-8006-442a8f918982','http://harbour-gazette.example/lost/404','response',404,'text/html','sha256:LIZGB4MAV2ICJOXM3WYIJLVLAZZC6PENHF6CBIGGDW3TY6SDQVHA====','sha256:LIZGB4MAV2ICJOXM3WYIJLVLAZZC6PENHF6CBIGGDW3TY6SDQVHA====',949,1,54152,923,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "captures" VALUES('example,harbour-gazette)/lost/503',1794839869663729,'7c242659-b4d3-43ea-bb3c-9a17b03c5447','http://harbour-gazette.example/lost/503','response',503,'text/html','sha256:TCCFHKTCLCY7FUDVNVCHT2MFVREQM3RIC45HU4XTJ4LOPVVOYFGA====','sha256:TCCFHKTCLCY7FUDVNVCHT2MFVREQM3RIC45HU4XTJ4LOPVVOYFGA====',949,1,39997,939,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "captures" VALUES('example,harbour-gazette)/news/1-blue-clock-new-rules-for-the-market-square',1794839869292285,'7447bd86-b619-41e3-ad15-188cbbb4514a','http://harbour-gazette.example/news/1-blue-clock-new-rules-for-the-market-square','response',200,'text/html','sha256:T5QKEYRKSPQD6GQBPZV3PDQ6KMS7KZV3WWX5QQLZWANIJXJQ2N2Q====','sha256:YGLJXBVTW73WNYGCLKXDB5SS3UE6RSPMYU67Y6SYAGGNEZYZYKQA====',1101,1,26817,1761,'"0-5e59ad23-gzip"',1771372975000000,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "captures" VALUES('example,harbour-gazette)/news/2-the-painted-parcel-of-the-ropewalk',1794839869416026,'567156e0-8d2f-46dd-8681-b36ac088a93c','http://harbour-gazette.example/news/2-the-painted-parcel-of-the-ropewalk','response',200,'text/html','sha256:MUCNZGNU4PHJZBK4EWLLVFX6HSAJPQJ5XYZOGUKIODPSEGWDJ5GA====','sha256:DLGOM3JJZM6I7LSSNLCUGJHWNVJQ23RMT5MUKGC7AXXJDG2YWJSA====',1075,1,32089,1732,'"0-5222c111-gzip"',1783086253000000,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "captures" VALUES('example,harbour-gazette)/permalink/1',1794839869540353,'ae3719d2-f853-443b-8be3-d3459a66f55f','http://harbour-gazette.example/permalink/1','response',301,'text/html','sha256:2ZMFPGNBAVIZKQYBZ6EKLQADH2NOBZAOUBFI5LEPT3LDYIE7KSTA====','sha256:2ZMFPGNBAVIZKQYBZ6EKLQADH2NOBZAOUBFI5LEPT3LDYIE7KSTA====',938,1,36449,958,NULL,NULL,'http://harbour-gazette.example/news/1-blue-clock-new-rules-for-the-market-square',NULL,NULL,NULL,NULL,NULL);
INSERT INTO "captures" VALUES('example,harbour-gazette)/permalink/2',1794839870915373,'5eea6ac9-eddf-4484-8c96-4c05da4781bb','http://harbour-gazette.example/permalink/2','response',302,'text/html','sha256:2ZMFPGNBAVIZKQYBZ6EKLQADH2NOBZAOUBFI5LEPT3LDYIE7KSTA====','sha256:2ZMFPGNBAVIZKQYBZ6EKLQADH2NOBZAOUBFI5LEPT3LDYIE7KSTA====',938,1,52337,946,NULL,NULL,'http://harbour-gazette.example/news/2-the-painted-parcel-of-the-ropewalk',NULL,NULL,NULL,NULL,NULL);
INSERT INTO "captures" VALUES('example,harbour-gazette)/robots.txt',1794839868537554,'66d3386b-2d01-4a36-b7ee-09e0841c5c88','http://harbour-gazette.example/robots.txt','response',200,'text/plain','sha256:PC7S2VYHUJ3J3GLQ6B6M6MKY3LYLPNTTMBPEHTAHZWF7JXY4XSYQ====','sha256:BVIXEGSYEK76ISV3GPMCAYGR4QTBJ6DNJEDO22AQT36H4M4GRSMQ====',98,1,1225,638,'"0-be34ee1e-gzip"',1786972105000000,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "captures" VALUES('example,harbour-gazette)/sitemap.xml',1794839870668418,'d89416f9-d2c5-4218-a2e1-57a80ba57323','http://harbour-gazette.example/sitemap.xml','response',200,'application/xml','sha256:6OBIKOG7JRPIX6E3NYJM3TKSZ5NPVGTP7YUWRAJNEBHY6OMUDBLA====','sha256:5SLAVIRZAWRJ4HFID4HRII5HCOFSJECWM7AW5PYDEYFHWWOPBYUA====',280,1,48829,821,'"2507305940-c30dd29d-gzip"',NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "captures" VALUES('example,hill-courier)/',1794839868673751,'e976644e-30c9-4df3-923c-2eedfa3a09c7','http://hill-courier.example/','response',200,'text/html','sha256:NQEY5BXLQ5YWSWJIHASNWLNZU6AT5RKHRSWP743GILZLJHFSFB4Q====','sha256:I2MHJHJQCMNRXACNZSCQG7TSBMSSMQDKMIZLQGIUUK63AOTBCIIQ====',1136,1,6850,1747,'"0-7041daa0-gzip"',1771012545000000,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "captures" VALUES('example,hill-courier)/css/gazette.css',1794839868926334,'50e50474-4f34-42b6-87bf-c296e7cabbe1','http://hill-courier.example/css/gazette.css','response',200,'text/css','sha256:2IGFCE7J775WQWZS2N4KL2FLE42ADR4ZC3COEZ7IV6SIKBPMQ76Q====','sha256:3KAX7PBP4GD5YRP6PTV4OA45IM6XA3R5YGXR6BZUC4HM24FXTRMQ====',1701,1,15809,2313,'"0-b864b8c7-gzip"',1782509190000000,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "captures" VALUES('example,hill-courier)/favicon.svg',1794839868801746,'d41c07fd-96ca-4cba-8bd4-fb0e665d294f','http://hill-courier.example/favicon.svg','response',200,'image/svg+xml','sha256:E4SMAQU5TZUIPQMSZDMTPKGQYOGU7WOLTYEC5QLAM3VX7OLAUSQA====','sha256:YODKOSOI4Z25QG6UOOSBS23SP4D65FXRGJWNKY6CE3G33Y2ZO7VA====',216,1,11033,786,'"0-ab034f4e-gzip"',1770726186000000,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "captures" VALUES('example,hill-courier)/img/paper.svg',1794839869790782,'16a4bcb9-a06c-436d-a75e-6e6eb0e48b51','http://hill-courier.example/img/paper.svg','response',200,'image/svg+xml','sha256:WTTELHZOEOZLALU7ERLT4IMQ2ZB2JNSBWJJG6KCLH7JY2LXTBT2A====','sha256:PMDI5JU2N3QCKXETRHMN3BLHKNN6CIUBFJWFCCTFCADNI5B3XRLQ====',403,1,43382,985,'"0-f2dca60a-gzip"',1794364115000000,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "captures" VALUES('example,hill-courier)/img/plate-1.svg',1794839869172466,'51e89278-fc48-4aa3-b1dc-fe9c06a57fa7','http://hill-courier.example/img/plate-1.svg','response',200,'image/svg+xml','sha256:GYAH2UI5PRXVO2MOLFEIMXZPTKWGARXB4G6ZXKK7LSVV6PITGKYQ====','sha256:UNZCLCSIUGE27DYJPF2USZSVWVIBKQKXNU6VIFDTTKD3I4LCYOFQ====',718,1,24630,1321,'"0-64908209-gzip"',1792954968000000,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "captures" VALUES('example,hill-courier)/js/gazette.js',1794839869048710,'4304dbcb-071a-42e6-80d5-4188033780c6','http://hill-courier.example/js/gazette.js','response',200,'text/javascript','sha256:VRVFDAXLMTMR3ZDFO56VCE4FHO5EJNHSIU7DLAM4IKXKKZD26C7A====','sha256:EGWSW7JILRFCZTMSBI4VLQBPWHWB26RZVVDPXVPFRN775CNDUXNQ====',343,1,20709,917,'"0-957b3e0f-gzip"',1792305390000000,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "captures" VALUES('example,hill-courier)/lost/404',1794839869543369,'62d8fdd2-8e8e-4d96-a25e-890501dae9a0','http://hill-courier.example/lost/404','response',404,'text/html','sha256:4DKMJNODAIALQ2CZIPNQSUU46FOPKVTDHPEXGO2UWB4ZD5C4SV7A====','sha256:4DKMJNODAIALQ2CZIPNQSUU46FOPKVTDHPEXGO2UWB4ZD5C4SV7A====',945,1,38238,927,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "captures" VALUES('example,hill-courier)/lost/503',1794839870038216,'688d3164-3c7c-4b6c-9dae-6aa385f66155','http://hill-courier.example/lost/503','response',503,'text/html','sha256:C4NILTLKGCUYYSOTVGKO5LXD5VC6COJPAPYVV3Z2QMYXXNVFRYQQ====','sha256:C4NILTLKGCUYYSOTVGKO5LXD5VC6COJPAPYVV3Z2QMYXXNVFRYQQ====',945,1,47016,945,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "captures" VALUES('example,hill-courier)/news/1-market-square-says-farewell-to-its-compass',1794839869296642,'cb98b71e-ab8b-42cf-b4fc-5bc8c8666250','http://hill-courier.example/news/1-market-square-says-farewell-to-its-compass','response',200,'text/html','sha256:INY6SLUNEWEQ44AXT25IRPDTA762IBRUNETCGHEHHRKZVCC5MFUQ====','sha256:VU3VTXGESLO3E6DWDNWD7NGQ7CGEFUHNSAX4UW42VIHA7WMX4EMA====',1081,1,29469,1735,'"0-fe885073-gzip"',1781388125000000,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "captures" VALUES('example,hill-courier)/permalink/1',1794839869420237,'63a87b8f-b947-439f-a554-6fe66b3fd920','http://hill-courier.example/permalink/1','response',301,'text/html','sha256:DK4KIS4JGYNOUL6IMGHSJQBQPLGCTUU4N3D75JMUVN7TJ22FWISA====','sha256:DK4KIS4JGYNOUL6IMGHSJQBQPLGCTUU4N3D75JMUVN7TJ22FWISA====',934,1,34678,934,NULL,NULL,'http://hill-courier.example/',NULL,NULL,NULL,NULL,NULL);
INSERT INTO "captures" VALUES('example,hill-courier)/permalink/2',1794839869915064,'0fd2b8c6-7678-4371-a71f-bf41448b7902','http://hill-courier.example/permalink/2','response',302,'text/html','sha256:DK4KIS4JGYNOUL6IMGHSJQBQPLGCTUU4N3D75JMUVN7TJ22FWISA====','sha256:DK4KIS4JGYNOUL6IMGHSJQBQPLGCTUU4N3D75JMUVN7TJ22FWISA====',934,1,45222,927,NULL,NULL,'http://hill-courier.example/',NULL,NULL,NULL,NULL,NULL);
INSERT INTO "captures" VALUES('example,hill-courier)/robots.txt',1794839868538635,'e30b1ccc-43f7-4e5b-9476-452855e06216','http://hill-courier.example/robots.txt','response',200,'text/plain','sha256:7MAUESLDDVXCRL7VROIHA5Y3PIHDSSOCW6MNWQULYZPUSNUSO5ZQ====','sha256:B7K37GDESRIVQ2DZQP43TA4TW5DRZUDBGV24CZSGPM7INMMJSTKA====',96,1,2705,633,'"0-566eeea0-gzip"',1789549657000000,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "captures" VALUES('example,hill-courier)/sitemap.xml',1794839869667837,'0883a468-6110-4eb8-8bf6-0d2fadd77ebf','http://hill-courier.example/sitemap.xml','response',200,'application/xml','sha256:HZVN55BHFVCFX4SHG2F4MDZJKDI2R7TBXY5UNNRRFDVWF4PQIXEQ====','sha256:A5TWRFZ5VOBJYENTJ66YUTXL6BJINPWDZ2WBYTCZPBZGYY54KQZA====',238,1,41771,774,'"2583493751-8e1524f9-gzip"',NULL,NULL,NULL,NULL,NULL,NULL,NULL);
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
INSERT INTO "crawls" VALUES(1,'20261116143748-5f92','["http://harbour-gazette.example/", "http://hill-courier.example/"]',1794839868527642,1794839898093538,'interrupted','{"scope": "host", "exclude": [], "depth": 2, "max_pages": null, "max_bytes": null, "time_limit": null, "robots": "obey", "delay": 0.12, "delay_factor": 1.0, "max_crawl_delay": 60.0, "retries": 2, "retry_delay": 30.0, "concurrency": 32, "user_agent": "asof/0.1 (web archive)", "connect_timeout": 20.0, "idle_timeout": 30.0, "fetch_timeout": 600.0, "max_body": 1073741824, "verify_tls": true, "proxy": "http://127.0.0.1:35153", "cookies": false, "segment_bytes": 1000000000, "group_records": 2, "group_seconds": 1.0}','{"bytes": 25466, "captured": 25, "ended_by": "interrupted", "failed": 0, "left_out": 4, "queued": 2, "reasons": {"robots.txt": 4}, "seconds": 29.556}');
CREATE TABLE segments (
  no INTEGER PRIMARY KEY,
  file TEXT NOT NULL UNIQUE,
  crawl INTEGER REFERENCES crawls(no),
  committed INTEGER NOT NULL,
  sealed INTEGER NOT NULL DEFAULT 0
);
INSERT INTO "segments" VALUES(1,'000001-20261116143748-5f92.warc.gz',1,55488,0);
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
INSERT INTO "targets" VALUES(8,1,'http://harbour-gazette.example/img/plate-1.svg','harbour-gazette.example','done',0.0,0,'E','http://harbour-gazette.example/',1,0,NULL);
INSERT INTO "targets" VALUES(9,1,'http://harbour-gazette.example/news/1-blue-clock-new-rules-for-the-market-square','harbour-gazette.example','done',1.0,1,'L','http://harbour-gazette.example/',1,0,NULL);
INSERT INTO "targets" VALUES(10,1,'http://harbour-gazette.example/news/2-the-painted-parcel-of-the-ropewalk','harbour-gazette.example','done',1.0,1,'L','http://harbour-gazette.example/',1,0,NULL);
INSERT INTO "targets" VALUES(11,1,'http://harbour-gazette.example/permalink/1','harbour-gazette.example','done',1.0,1,'L','http://harbour-gazette.example/',1,0,NULL);
INSERT INTO "targets" VALUES(12,1,'http://harbour-gazette.example/lost/503','harbour-gazette.example','queued',1.0,1,'L','http://harbour-gazette.example/',1,1794839899665692,'status 503');
INSERT INTO "targets" VALUES(13,1,'http://harbour-gazette.example/sitemap.xml','harbour-gazette.example','done',1.0,1,'L','http://harbour-gazette.example/',1,0,NULL);
INSERT INTO "targets" VALUES(14,1,'http://hill-courier.example/favicon.svg','hill-courier.example','done',0.0,0,'E','http://hill-courier.example/',1,0,NULL);
INSERT INTO "targets" VALUES(15,1,'http://hill-courier.example/css/gazette.css','hill-courier.example','done',0.0,0,'E','http://hill-courier.example/',1,0,NULL);
INSERT INTO "targets" VALUES(16,1,'http://hill-courier.example/js/gazette.js','hill-courier.example','done',0.0,0,'E','http://hill-courier.example/',1,0,NULL);
INSERT INTO "targets" VALUES(17,1,'http://hill-courier.example/img/plate-1.svg','hill-courier.example','done',0.0,0,'E','http://hill-courier.example/',1,0,NULL);
INSERT INTO "targets" VALUES(18,1,'http://hill-courier.example/news/1-market-square-says-farewell-to-its-compass','hill-courier.example','done',1.0,1,'L','http://hill-courier.example/',1,0,NULL);
INSERT INTO "targets" VALUES(19,1,'http://hill-courier.example/permalink/1','hill-courier.example','done',1.0,1,'L','http://hill-courier.example/',1,0,NULL);
INSERT INTO "targets" VALUES(20,1,'http://hill-courier.example/lost/404','hill-courier.example','done',1.0,1,'L','http://hill-courier.example/',1,0,NULL);
INSERT INTO "targets" VALUES(21,1,'http://hill-courier.example/desk/draft-1','hill-courier.example','left_out',1.0,1,'L','http://hill-courier.example/',0,0,'robots.txt');
INSERT INTO "targets" VALUES(22,1,'http://hill-courier.example/sitemap.xml','hill-courier.example','done',1.0,1,'L','http://hill-courier.example/',1,0,NULL);
INSERT INTO "targets" VALUES(23,1,'http://harbour-gazette.example/img/paper.svg','harbour-gazette.example','done',0.0,0,'EE','http://harbour-gazette.example/css/gazette.css',1,0,NULL);
INSERT INTO "targets" VALUES(24,1,'http://hill-courier.example/img/paper.svg','hill-courier.example','done',0.0,0,'EE','http://hill-courier.example/css/gazette.css',1,0,NULL);
INSERT INTO "targets" VALUES(25,1,'http://harbour-gazette.example/permalink/2','harbour-gazette.example','done',2.0,2,'LL','http://harbour-gazette.example/news/1-blue-clock-new-rules-for-the-market-square',1,0,NULL);
INSERT INTO "targets" VALUES(26,1,'http://harbour-gazette.example/desk/draft-1','harbour-gazette.example','left_out',2.0,2,'LL','http://harbour-gazette.example/news/1-blue-clock-new-rules-for-the-market-square',0,0,'robots.txt');
INSERT INTO "targets" VALUES(27,1,'http://hill-courier.example/permalink/2','hill-courier.example','done',2.0,2,'LL','http://hill-courier.example/news/1-market-square-says-farewell-to-its-compass',1,0,NULL);
INSERT INTO "targets" VALUES(28,1,'http://hill-courier.example/lost/503','hill-courier.example','queued',2.0,2,'LL','http://hill-courier.example/news/1-market-square-says-farewell-to-its-compass',1,1794839900042902,'status 503');
INSERT INTO "targets" VALUES(29,1,'http://hill-courier.example/desk/draft-2','hill-courier.example','left_out',2.0,2,'LL','http://hill-courier.example/news/1-market-square-says-farewell-to-its-compass',0,0,'robots.txt');
INSERT INTO "targets" VALUES(30,1,'http://harbour-gazette.example/lost/404','harbour-gazette.example','done',2.0,2,'LL','http://harbour-gazette.example/news/2-the-painted-parcel-of-the-ropewalk',1,0,NULL);
INSERT INTO "targets" VALUES(31,1,'http://harbour-gazette.example/desk/draft-2','harbour-gazette.example','left_out',2.0,2,'LL','http://harbour-gazette.example/news/2-the-painted-parcel-of-the-ropewalk',0,0,'robots.txt');
CREATE INDEX targets_queue ON targets (crawl, host, priority, no) WHERE state = 'queued';
COMMIT;
PRAGMA user_version = 1;
