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
INSERT INTO "captures" VALUES('example,harbour-gazette)/',1794839850167677,'56482823-2e36-430b-8ed6-05c0d6d36573','http://harbour-gazette.example/','response',200,'text/html','sha256:YNH5ADIW52H3VSVLGK6FEF6RBGZDJI6WSW52XN6XAWX2A3EE7UEQ====','sha256:B6UOOMITJHH65JJ5L355DKZKD7M5Y74L4W7RVQGMJIALWAELQL3Q====',1263,1,4640,1981,'"0-e463229b-gzip"',1777951437000000,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "captures" VALUES('example,harbour-gazette)/css/gazette.css',1794839850539162,'46f7e80b-3198-4aa5-a12f-8ce2becc3fe2','http://harbour-gazette.example/css/gazette.css','response',200,'text/css','sha256:EKOJ7JY44YY7VCR5TG2PAP2662HADJEVNFEFN5QGODVS7Y7SI2DQ====','sha256:6UIA6SV6OS7QOWWDTGEKBY73UICVMDZKRXYQO6BBBVK2EUC7A3RA====',1703,1,17322,2420,'"0-c3cf64ec-gzip"',1788156806000000,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "captures" VALUES('example,harbour-gazette)/data/next.json',1794839852500540,'06778ed7-0df9-4263-ba86-0f79824aa922','http://harbour-gazette.example/data/next.json','response',404,'text/html','sha256:W4IYQIBA4W7E5OPBZ7F6QCOQ63US4ARHSCAKCJWX2EYFDMVTE4UQ====','sha256:W4IYQIBA4W7E5OPBZ7F6QCOQ63US4ARHSCAKCJWX2EYFDMVTE4UQ====',939,1,53264,914,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "captures" VALUES('example,harbour-gazette)/favicon.svg',1794839850415366,'20a0d8d5-f038-4c06-9a95-ef111238b07e','http://harbour-gazette.example/favicon.svg','response',200,'image/svg+xml','sha256:FARQD4QIYTF75BFC52LLFQN4B45BU5YA24BPCKPPGKO3KS3UPYPQ====','sha256:BVJCW6BG3VJ77KZPYQHVKWN4BBI3INCPXVHKLOIGPGKCREIYHT7A====',216,1,13787,932,'"0-514689b9-gzip"',1788821790000000,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "captures" VALUES('example,harbour-gazette)/img/paper.svg',1794839851123002,'1024ac5b-849a-4df7-9acd-d21618ef4d81','http://harbour-gazette.example/img/paper.svg','response',200,'image/svg+xml','sha256:WTTELHZOEOZLALU7ERLT4IMQ2ZB2JNSBWJJG6KCLH7JY2LXTBT2A====','sha256:PMDI5JU2N3QCKXETRHMN3BLHKNN6CIUBFJWFCCTFCADNI5B3XRLQ====',403,1,37212,1121,'"0-c02bde1d-gzip"',1774052419000000,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "captures" VALUES('example,harbour-gazette)/img/plate-1.svg',1794839850787046,'c3c15ebb-95f2-4371-861b-4d5f03c7ab95','http://harbour-gazette.example/img/plate-1.svg','response',200,'image/svg+xml','sha256:BJKIZMMDF43FVBGGVACKD2UB57LGA3ISUPATWDXBJSVQDL3UWRQA====','sha256:T6FIHB7JHW2XCIBMBQOZONXACELGKMEM4QTD5H65WECR6E65EXEA====',720,1,27176,1440,'"0-203e7b71-gzip"',1781671678000000,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "captures" VALUES('example,harbour-gazette)/js/gazette.js',1794839850662997,'4d60be89-bc28-40c6-b6b9-a0dc57f6de6e','http://harbour-gazette.example/js/gazette.js','response',200,'text/javascript','sha256:VRVFDAXLMTMR3ZDFO56VCE4FHO5EJNHSIU7DLAM4IKXKKZD26C7A====','sha256:EGWSW7JILRFCZTMSBI4VLQBPWHWB26RZVVDPXVPFRN775CNDUXNQ====',343,1,23832,1063,'"0-ca5a2a4a-gzip"',1762720385000000,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "captures" VALUES('example,harbour-gazette)/lost/404',1794839852378555,'aa4dfa4f-b337-44d0-ad9b-8fefc728dfe0','http://harbour-gazette.example/lost/404','response',404,'text/html','sha256:LIZGB4MAV2ICJOXM3WYIJLVLAZZC6PENHF6CBIGGDW3TY6SDQVHA====','sha256:LIZGB4MAV2ICJOXM3WYIJLVLAZZC6PENHF6CBIGGDW3TY6SDQVHA====',949,1,49681,924,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "captures" VALUES('example,harbour-gazette)/lost/503',1794839851372643,'5cc39d43-7acf-4c52-9b7d-002540ddd4c7','http://harbour-gazette.example/lost/503','response',503,'text/html','sha256:TCCFHKTCLCY7FUDVNVCHT2MFVREQM3RIC45HU4XTJ4LOPVVOYFGA====','sha256:TCCFHKTCLCY7FUDVNVCHT2MFVREQM3RIC45HU4XTJ4LOPVVOYFGA====',949,1,46126,940,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "captures" VALUES('example,harbour-gazette)/news/1-blue-clock-new-rules-for-the-market-square',1794839850909932,'8ce0b356-8e73-49e7-8868-c45e858b7c85','http://harbour-gazette.example/news/1-blue-clock-new-rules-for-the-market-square','response',200,'text/html','sha256:FDQSNGX77QSLFZWUZYZ76RZLZCD7J2Z2E44D6DTC65AWTZMCZSLQ====','sha256:PLHEC6OANAAQGMWROXYW7S2QN57PVQHZHKTLJFTPSOLCBSLUSODQ====',1102,1,31763,1869,'"0-5e59ad23-gzip"',1771372956000000,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "captures" VALUES('example,harbour-gazette)/news/2-the-painted-parcel-of-the-ropewalk',1794839851248440,'5a0b4152-36fe-400d-8b4b-992152b68375','http://harbour-gazette.example/news/2-the-painted-parcel-of-the-ropewalk','response',200,'text/html','sha256:6N3M5B6KEJU6H4MNC4SIXPLALCPCJPW3CCCFDVZ4QIKDWKVXWM2Q====','sha256:HWCJ67WYWPWOX7R4NFE4RAICYJNBKSYHGLVBBT5BILAWEQFMAPIA====',1076,1,40656,1841,'"0-5222c111-gzip"',1783086234000000,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "captures" VALUES('example,harbour-gazette)/robots.txt',1794839850044189,'3bdd74d7-e8d3-422f-ae1f-1f01cff9f8af','http://harbour-gazette.example/robots.txt','response',200,'text/plain','sha256:PC7S2VYHUJ3J3GLQ6B6M6MKY3LYLPNTTMBPEHTAHZWF7JXY4XSYQ====','sha256:BVIXEGSYEK76ISV3GPMCAYGR4QTBJ6DNJEDO22AQT36H4M4GRSMQ====',98,1,1325,824,'"0-be34ee1e-gzip"',1786972087000000,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "captures" VALUES('example,harbour-gazette)/sitemap.xml',1794839850292506,'29a0dce8-148d-4392-b9d2-b14f54a45348','http://harbour-gazette.example/sitemap.xml','response',200,'application/xml','sha256:BMVKJWJNYIT5RFQYRXTO7XU45WWG4OJCGLWFGTGGILWW7EK3I57Q====','sha256:LLTWUJLUQHPWQRGUV76YJPHRNDXU7KP4QCGTOUFFNWJEJ6GKLGPA====',281,1,10181,961,'"159666720-c30dd29d-gzip"',NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "captures" VALUES('example,harbour-gazette)/wire/late-news.html',1794839852625972,'0904c7fa-d19a-4f16-88c0-02b501fde855','http://harbour-gazette.example/wire/late-news.html','revisit',404,'text/html','sha256:W4IYQIBA4W7E5OPBZ7F6QCOQ63US4ARHSCAKCJWX2EYFDMVTE4UQ====','sha256:W4IYQIBA4W7E5OPBZ7F6QCOQ63US4ARHSCAKCJWX2EYFDMVTE4UQ====',0,1,56805,551,NULL,NULL,NULL,NULL,'identical-payload-digest','http://harbour-gazette.example/data/next.json',1794839852500540,NULL);
INSERT INTO "captures" VALUES('example,hill-courier)/',1794839850185229,'af010639-6977-40d3-8e07-21b98f346b93','http://hill-courier.example/','response',200,'text/html','sha256:GXFDNAI2K2ADTMUEXS5A5EZ4Y3SUPPCMEOSPABZP44M4QYICIDHA====','sha256:MD7BDLMQMILETBXLZE7ALQPU5NXF3JHPGDB3IJM3LFHRFUUA5EBQ====',1235,1,7423,1950,'"0-7041daa0-gzip"',1771012526000000,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "captures" VALUES('example,hill-courier)/css/gazette.css',1794839850552246,'54245bcf-1eb8-43b3-bbed-b5aa26d58577','http://hill-courier.example/css/gazette.css','response',200,'text/css','sha256:2IGFCE7J775WQWZS2N4KL2FLE42ADR4ZC3COEZ7IV6SIKBPMQ76Q====','sha256:3KAX7PBP4GD5YRP6PTV4OA45IM6XA3R5YGXR6BZUC4HM24FXTRMQ====',1701,1,20583,2415,'"0-b864b8c7-gzip"',1782509172000000,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "captures" VALUES('example,hill-courier)/data/next.json',1794839852500820,'2ea57737-b4d4-4ec1-ae01-6627f602e6c7','http://hill-courier.example/data/next.json','response',404,'text/html','sha256:EEE4TX2NSKYCR7NU3MGTREKGMCB2M754EL3YGP44S5M7GQDECFFQ====','sha256:EEE4TX2NSKYCR7NU3MGTREKGMCB2M754EL3YGP44S5M7GQDECFFQ====',935,1,55031,918,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "captures" VALUES('example,hill-courier)/favicon.svg',1794839850430595,'ef65766a-2a1c-4204-84b8-0de0a3ce0063','http://hill-courier.example/favicon.svg','response',200,'image/svg+xml','sha256:E4SMAQU5TZUIPQMSZDMTPKGQYOGU7WOLTYEC5QLAM3VX7OLAUSQA====','sha256:YODKOSOI4Z25QG6UOOSBS23SP4D65FXRGJWNKY6CE3G33Y2ZO7VA====',216,1,15558,929,'"0-ab034f4e-gzip"',1770726168000000,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "captures" VALUES('example,hill-courier)/img/paper.svg',1794839851124476,'1d390f79-1336-4714-9f86-c67067b156ea','http://hill-courier.example/img/paper.svg','revisit',200,'image/svg+xml','sha256:WTTELHZOEOZLALU7ERLT4IMQ2ZB2JNSBWJJG6KCLH7JY2LXTBT2A====',NULL,0,1,39183,598,'"0-f2dca60a-gzip"',1794364097000000,NULL,NULL,'identical-payload-digest','http://harbour-gazette.example/img/paper.svg',1794839851123002,NULL);
INSERT INTO "captures" VALUES('example,hill-courier)/img/plate-1.svg',1794839850796194,'9619a2c3-0131-4bf4-aca7-b1f0b0477e94','http://hill-courier.example/img/plate-1.svg','response',200,'image/svg+xml','sha256:GYAH2UI5PRXVO2MOLFEIMXZPTKWGARXB4G6ZXKK7LSVV6PITGKYQ====','sha256:UNZCLCSIUGE27DYJPF2USZSVWVIBKQKXNU6VIFDTTKD3I4LCYOFQ====',718,1,29459,1435,'"0-64908209-gzip"',1792954949000000,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "captures" VALUES('example,hill-courier)/js/gazette.js',1794839850673879,'30469ec7-aa1d-437a-83fd-38638f416880','http://hill-courier.example/js/gazette.js','revisit',200,'text/javascript','sha256:VRVFDAXLMTMR3ZDFO56VCE4FHO5EJNHSIU7DLAM4IKXKKZD26C7A====',NULL,0,1,25735,600,'"0-957b3e0f-gzip"',1792305371000000,NULL,NULL,'identical-payload-digest','http://harbour-gazette.example/js/gazette.js',1794839850662997,NULL);
INSERT INTO "captures" VALUES('example,hill-courier)/lost/404',1794839852379082,'0435e078-495e-4d60-aeca-c1993bb5dfbf','http://hill-courier.example/lost/404','response',404,'text/html','sha256:4DKMJNODAIALQ2CZIPNQSUU46FOPKVTDHPEXGO2UWB4ZD5C4SV7A====','sha256:4DKMJNODAIALQ2CZIPNQSUU46FOPKVTDHPEXGO2UWB4ZD5C4SV7A====',945,1,51466,927,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "captures" VALUES('example,hill-courier)/lost/503',1794839851373975,'6636bf93-b086-4eb0-920b-ab8e9dc9eeaf','http://hill-courier.example/lost/503','response',503,'text/html','sha256:C4NILTLKGCUYYSOTVGKO5LXD5VC6COJPAPYVV3Z2QMYXXNVFRYQQ====','sha256:C4NILTLKGCUYYSOTVGKO5LXD5VC6COJPAPYVV3Z2QMYXXNVFRYQQ====',945,1,47898,945,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "captures" VALUES('example,hill-courier)/news/1-market-square-says-farewell-to-its-compass',1794839850920213,'2a9e42b6-5fd8-4568-9b6f-afc6f64b4366','http://hill-courier.example/news/1-market-square-says-farewell-to-its-compass','response',200,'text/html','sha256:VR34LNJSSDAJWXPL7D5AKSXMB2BXAVWDFZZ5F4UBD2SZWTOASYUQ====','sha256:ONZP3PD6NPAQFQ35I2EGXAGYL64QSXDKQDNSZLCMSN5ELG5RLMVQ====',1059,1,34524,1823,'"0-fe885073-gzip"',1781388107000000,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "captures" VALUES('example,hill-courier)/news/2-a-quiet-parcel-comes-to-the-market-square',1794839851248741,'c9edb6b5-5d99-4867-ba21-3b46264355e5','http://hill-courier.example/news/2-a-quiet-parcel-comes-to-the-market-square','response',200,'text/html','sha256:W7ZMU2WTTCRI6ATJSI7IRR7N6Q6DBMES4XFEAKMJSF6U7FML4Y4A====','sha256:4YSXCPHQYVRVCXU45A43AODYXIKH2WGZZJTXWLHXO5BPPXQJWYLA====',1124,1,43378,1887,'"0-87a55fcd-gzip"',1774839347000000,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "captures" VALUES('example,hill-courier)/robots.txt',1794839850044567,'9e16f985-be73-463c-8e6b-eea2b26d132c','http://hill-courier.example/robots.txt','response',200,'text/plain','sha256:7MAUESLDDVXCRL7VROIHA5Y3PIHDSSOCW6MNWQULYZPUSNUSO5ZQ====','sha256:B7K37GDESRIVQ2DZQP43TA4TW5DRZUDBGV24CZSGPM7INMMJSTKA====',96,1,2988,819,'"0-566eeea0-gzip"',1789549639000000,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "captures" VALUES('example,hill-courier)/sitemap.xml',1794839850308361,'ff61cf93-5a27-4e01-951c-8caaac0661eb','http://hill-courier.example/sitemap.xml','response',200,'application/xml','sha256:IIB3QVNNKTQFXM5NYDF5GLGH5UIP32SLER2VH76FI4PTFI4WH62A====','sha256:DWSRZ5ZIIMSSNKN5NQTGGN7NTDTODWSFHQSK2OBCEBIICO452M2Q====',277,1,11986,955,'"1374283054-8e1524f9-gzip"',NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "captures" VALUES('example,hill-courier)/wire/late-news.html',1794839852626592,'2c1ab6fd-b990-414e-aef6-9ecf371e9499','http://hill-courier.example/wire/late-news.html','revisit',404,'text/html','sha256:EEE4TX2NSKYCR7NU3MGTREKGMCB2M754EL3YGP44S5M7GQDECFFQ====','sha256:EEE4TX2NSKYCR7NU3MGTREKGMCB2M754EL3YGP44S5M7GQDECFFQ====',0,1,58216,545,NULL,NULL,NULL,NULL,'identical-payload-digest','http://hill-courier.example/data/next.json',1794839852500820,NULL);
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
INSERT INTO "crawls" VALUES(1,'20261116143730-e5a5','["http://harbour-gazette.example/", "http://hill-courier.example/"]',1794839850033283,1794839852632615,'interrupted','{"preset": null, "scope": "host", "rules": [], "include": [], "exclude": [], "depth": 2, "requisites": true, "sitemaps": true, "feeds": true, "guesses": true, "traps": true, "text": false, "robots": "obey", "allow_private": false, "max_pages": null, "max_bytes": null, "max_pages_per_host": null, "max_bytes_per_host": null, "time_limit": null, "disk_reserve": 200000000, "delay": 0.12, "delay_factor": 1.0, "max_crawl_delay": 60.0, "retries": 2, "retry_delay": 30.0, "concurrency": 128, "user_agent": "asof/0.1 (web archive)", "connect_timeout": 20.0, "idle_timeout": 30.0, "fetch_timeout": 600.0, "max_body": 1073741824, "verify_tls": true, "proxy": "http://127.0.0.1:41329", "cookies": false, "conditional": true, "segment_bytes": 1000000000, "group_records": 2, "group_seconds": 1.0}','{"bytes": 12512, "captured": 26, "ended_by": "interrupted", "failed": 0, "left_out": 8, "queued": 4, "reasons": {"excluded by permalink": 4, "robots.txt": 4}, "seconds": 1.63}','[["host", "harbour-gazette.example", 3, 0, 0, 0, 0, 0, ""], ["host", "hill-courier.example", 3, 0, 0, 0, 0, 0, ""], ["4000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000080000200000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000400000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000008000000000000000000000000000000000000000800000000000100000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000400000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000080000000000000000000000000000000000000000000000000000000000000000080000000000000000000000000000000000000000000000000200000000001000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000800000000000000000000000000000000000000000000000000000000080000000000000000400000000000000000400000000000000000000000000000040001000000000000000000000000000000000000000000000000000000000000000000000000000000000000000004000000000000000100000000400000000000000000000000080000000000000020000000000000000000000000000c00000008000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000200000000100000000000000000000000000000000000000000000000000000000000000000000000000000000020000000000000000000000000000000000000000000000000000000000000000000000080000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000002001000000000000000000000000000000000000000000000000000000080000000000000000000080000000000000000000000000000008000000000000", "harbour-gazette.example/news/*", 2, 2, 0, 0, 0, 0, "http://harbour-gazette.example/news/1-blue-clock-new-rules-for-the-market-square"], ["20000040000000000020000000000000000000000000000000000000000000000000000000000000000000000000000000000000000200001000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000008000000000000000000000000000000000000000080000000000000020000000000000000000000000000000000080000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000020000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000200000000000000001000000000000000000000000000000000000000000000000000000000000200000000000000000000000000000000000000000000000000000000000004000000000000000020000000000000000000000000000000000000000000000000000000000000008000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000001000000000000000000000000000000000000000000000000000000000000000000000000000080000000000000000000000000000040000000000000000004000000000000000000000000000000000000000000000000000000000000000008000000000020000000000000000000000000000000000000000000400000000000020000000000000000000000000000000000000000000000000000100000000000000000000000000000000000001000000000000000000002000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000020000000000000000000000000000000000000000000000000000020000000000000000000000000000000000000000000000000000000000000100000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000080000000000001000000000000000000000000000000000000000000000000000000000000000000000002000000000000000000000000000000000000000000000000", "hill-courier.example/news/*", 2, 2, 0, 0, 0, 0, "http://hill-courier.example/news/1-market-square-says-farewell-to-its-compass"]]');
CREATE TABLE payloads (
  key INTEGER PRIMARY KEY,
  segment INTEGER NOT NULL REFERENCES segments(no),
  offset INTEGER NOT NULL
);
INSERT INTO "payloads" VALUES(46523408278811493,1,27176);
INSERT INTO "payloads" VALUES(50289796007600765,1,10181);
INSERT INTO "payloads" VALUES(104049383097698968,1,47898);
INSERT INTO "payloads" VALUES(148790989934897922,1,55031);
INSERT INTO "payloads" VALUES(155877739609350943,1,17322);
INSERT INTO "payloads" VALUES(176286916186597000,1,15558);
INSERT INTO "payloads" VALUES(180759845296426175,1,13787);
INSERT INTO "payloads" VALUES(184104879902409291,1,31763);
INSERT INTO "payloads" VALUES(242248147339143171,1,7423);
INSERT INTO "payloads" VALUES(243202991586789109,1,29459);
INSERT INTO "payloads" VALUES(297303019347070469,1,11986);
INSERT INTO "payloads" VALUES(406210237663209730,1,49681);
INSERT INTO "payloads" VALUES(543795178557286249,1,1325);
INSERT INTO "payloads" VALUES(686875061371898655,1,46126);
INSERT INTO "payloads" VALUES(776489509049486737,1,23832);
INSERT INTO "payloads" VALUES(776726192423767049,1,34524);
INSERT INTO "payloads" VALUES(814698920090417963,1,37212);
INSERT INTO "payloads" VALUES(824467153444821988,1,53264);
INSERT INTO "payloads" VALUES(828429950841883176,1,43378);
INSERT INTO "payloads" VALUES(879606007199623419,1,4640);
INSERT INTO "payloads" VALUES(945972599603593142,1,20583);
INSERT INTO "payloads" VALUES(1012549377781145611,1,51466);
INSERT INTO "payloads" VALUES(1096464780067219102,1,40656);
INSERT INTO "payloads" VALUES(1130425653841221346,1,2988);
CREATE TABLE segments (
  no INTEGER PRIMARY KEY,
  file TEXT NOT NULL UNIQUE,
  crawl INTEGER REFERENCES crawls(no),
  committed INTEGER NOT NULL,
  sealed INTEGER NOT NULL DEFAULT 0
);
INSERT INTO "segments" VALUES(1,'000001-20261116143730-e5a5.warc.gz',1,59159,0);
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
INSERT INTO "targets" VALUES(9,1,1548589066988624899,'http://harbour-gazette.example/js/gazette.js','harbour-gazette.example','done',-0.5,0,'E','http://harbour-gazette.example/',1,0,NULL);
INSERT INTO "targets" VALUES(10,1,-8332184550340918570,'http://harbour-gazette.example/img/plate-1.svg','harbour-gazette.example','done',-0.5,0,'E','http://harbour-gazette.example/',1,0,NULL);
INSERT INTO "targets" VALUES(11,1,6365808374271091311,'http://harbour-gazette.example/news/1-blue-clock-new-rules-for-the-market-square','harbour-gazette.example','done',1.0,1,'L','http://harbour-gazette.example/',1,0,NULL);
INSERT INTO "targets" VALUES(12,1,-3695122337242589750,'http://harbour-gazette.example/news/2-the-painted-parcel-of-the-ropewalk','harbour-gazette.example','done',1.0,1,'L','http://harbour-gazette.example/',1,0,NULL);
INSERT INTO "targets" VALUES(13,1,3911901112817461493,'http://harbour-gazette.example/permalink/1','harbour-gazette.example','left_out',1.0,1,'L','http://harbour-gazette.example/',0,1,'excluded by permalink');
INSERT INTO "targets" VALUES(14,1,4985063406429505642,'http://harbour-gazette.example/lost/503','harbour-gazette.example','queued',1.0,1,'L','http://harbour-gazette.example/',1,1794839881373698,'status 503');
INSERT INTO "targets" VALUES(15,1,-3182633766858405902,'http://hill-courier.example/favicon.svg','hill-courier.example','done',-0.5,0,'E','http://hill-courier.example/',1,0,NULL);
INSERT INTO "targets" VALUES(16,1,7044312915221803492,'http://hill-courier.example/css/gazette.css','hill-courier.example','done',-0.5,0,'E','http://hill-courier.example/',1,0,NULL);
INSERT INTO "targets" VALUES(17,1,-7134755201234143039,'http://hill-courier.example/js/gazette.js','hill-courier.example','done',-0.5,0,'E','http://hill-courier.example/',1,0,NULL);
INSERT INTO "targets" VALUES(18,1,1900270943321483377,'http://hill-courier.example/img/plate-1.svg','hill-courier.example','done',-0.5,0,'E','http://hill-courier.example/',1,0,NULL);
INSERT INTO "targets" VALUES(19,1,7703265473544374281,'http://hill-courier.example/news/1-market-square-says-farewell-to-its-compass','hill-courier.example','done',1.0,1,'L','http://hill-courier.example/',1,0,NULL);
INSERT INTO "targets" VALUES(20,1,-801876796110952093,'http://hill-courier.example/news/2-a-quiet-parcel-comes-to-the-market-square','hill-courier.example','done',1.0,1,'L','http://hill-courier.example/',1,0,NULL);
INSERT INTO "targets" VALUES(21,1,7944881993915720043,'http://hill-courier.example/permalink/1','hill-courier.example','left_out',1.0,1,'L','http://hill-courier.example/',0,1,'excluded by permalink');
INSERT INTO "targets" VALUES(22,1,5934264755355312211,'http://hill-courier.example/lost/503','hill-courier.example','queued',1.0,1,'L','http://hill-courier.example/',1,1794839881376651,'status 503');
INSERT INTO "targets" VALUES(23,1,7199622122178538622,'http://harbour-gazette.example/img/paper.svg','harbour-gazette.example','done',-0.5,0,'EE','http://harbour-gazette.example/css/gazette.css',1,0,NULL);
INSERT INTO "targets" VALUES(24,1,-6626427393997753560,'http://hill-courier.example/img/paper.svg','hill-courier.example','done',-0.5,0,'EE','http://hill-courier.example/css/gazette.css',1,0,NULL);
INSERT INTO "targets" VALUES(25,1,6724149777556945923,'http://harbour-gazette.example/data/next.json','harbour-gazette.example','done',1001.0,1,'EX','http://harbour-gazette.example/js/gazette.js',1,0,NULL);
INSERT INTO "targets" VALUES(26,1,5226435885321020407,'http://harbour-gazette.example/wire/late-news.html','harbour-gazette.example','done',1001.0,1,'EX','http://harbour-gazette.example/js/gazette.js',1,0,NULL);
INSERT INTO "targets" VALUES(27,1,2424553039657424762,'http://harbour-gazette.example/api/stories.json','harbour-gazette.example','queued',1001.0,1,'EX','http://harbour-gazette.example/js/gazette.js',0,0,NULL);
INSERT INTO "targets" VALUES(28,1,2015690409501003554,'http://hill-courier.example/data/next.json','hill-courier.example','done',1001.0,1,'EX','http://hill-courier.example/js/gazette.js',1,0,NULL);
INSERT INTO "targets" VALUES(29,1,-405708090531524040,'http://hill-courier.example/wire/late-news.html','hill-courier.example','done',1001.0,1,'EX','http://hill-courier.example/js/gazette.js',1,0,NULL);
INSERT INTO "targets" VALUES(30,1,4170361818917920014,'http://hill-courier.example/api/stories.json','hill-courier.example','queued',1001.0,1,'EX','http://hill-courier.example/js/gazette.js',0,0,NULL);
INSERT INTO "targets" VALUES(31,1,-538135097300985323,'http://harbour-gazette.example/permalink/2','harbour-gazette.example','left_out',2.0,2,'LL','http://harbour-gazette.example/news/1-blue-clock-new-rules-for-the-market-square',0,1,'excluded by permalink');
INSERT INTO "targets" VALUES(32,1,-7554155755840852865,'http://harbour-gazette.example/desk/draft-1','harbour-gazette.example','left_out',2.0,2,'LL','http://harbour-gazette.example/news/1-blue-clock-new-rules-for-the-market-square',0,1,'robots.txt');
INSERT INTO "targets" VALUES(33,1,-6631235261946887764,'http://hill-courier.example/permalink/2','hill-courier.example','left_out',2.0,2,'LL','http://hill-courier.example/news/1-market-square-says-farewell-to-its-compass',0,1,'excluded by permalink');
INSERT INTO "targets" VALUES(34,1,-7569012567989722581,'http://hill-courier.example/desk/draft-1','hill-courier.example','left_out',2.0,2,'LL','http://hill-courier.example/news/1-market-square-says-farewell-to-its-compass',0,1,'robots.txt');
INSERT INTO "targets" VALUES(35,1,-8476916458172606927,'http://harbour-gazette.example/lost/404','harbour-gazette.example','done',2.0,2,'LL','http://harbour-gazette.example/news/2-the-painted-parcel-of-the-ropewalk',1,0,NULL);
INSERT INTO "targets" VALUES(36,1,-3230424731050805627,'http://harbour-gazette.example/desk/draft-2','harbour-gazette.example','left_out',2.0,2,'LL','http://harbour-gazette.example/news/2-the-painted-parcel-of-the-ropewalk',0,1,'robots.txt');
INSERT INTO "targets" VALUES(37,1,5214867207547998901,'http://hill-courier.example/lost/404','hill-courier.example','done',2.0,2,'LL','http://hill-courier.example/news/2-a-quiet-parcel-comes-to-the-market-square',1,0,NULL);
INSERT INTO "targets" VALUES(38,1,-8983152660374036753,'http://hill-courier.example/desk/draft-2','hill-courier.example','left_out',2.0,2,'LL','http://hill-courier.example/news/2-a-quiet-parcel-comes-to-the-market-square',0,1,'robots.txt');
CREATE INDEX targets_queue ON targets (crawl, host, priority, no) WHERE state = 'queued';
COMMIT;
PRAGMA user_version = 2;
