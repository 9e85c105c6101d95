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
INSERT INTO "captures" VALUES('example,harbour-gazette)/',1794839842217966,'e5f6b64b-8687-4cec-a57f-bfc44415db56','http://harbour-gazette.example/','response',200,'text/html','sha256:YNH5ADIW52H3VSVLGK6FEF6RBGZDJI6WSW52XN6XAWX2A3EE7UEQ====','sha256:B6UOOMITJHH65JJ5L355DKZKD7M5Y74L4W7RVQGMJIALWAELQL3Q====',1263,1,4689,1981,'"0-e463229b-gzip"',1777951429000000,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "captures" VALUES('example,harbour-gazette)/css/gazette.css',1794839842589214,'ec28132d-e6ec-466b-bee3-3fc759dc2442','http://harbour-gazette.example/css/gazette.css','response',200,'text/css','sha256:EKOJ7JY44YY7VCR5TG2PAP2662HADJEVNFEFN5QGODVS7Y7SI2DQ====','sha256:6UIA6SV6OS7QOWWDTGEKBY73UICVMDZKRXYQO6BBBVK2EUC7A3RA====',1703,1,17379,2420,'"0-c3cf64ec-gzip"',1788156798000000,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "captures" VALUES('example,harbour-gazette)/data/next.json',1794839844492418,'15e5b038-b2a7-438b-8d6b-0759bc24ee53','http://harbour-gazette.example/data/next.json','response',404,'text/html','sha256:W4IYQIBA4W7E5OPBZ7F6QCOQ63US4ARHSCAKCJWX2EYFDMVTE4UQ====','sha256:W4IYQIBA4W7E5OPBZ7F6QCOQ63US4ARHSCAKCJWX2EYFDMVTE4UQ====',939,1,53358,913,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "captures" VALUES('example,harbour-gazette)/favicon.svg',1794839842467224,'b8cb1b37-6a73-4374-ba84-f2f3b59937c8','http://harbour-gazette.example/favicon.svg','response',200,'image/svg+xml','sha256:FARQD4QIYTF75BFC52LLFQN4B45BU5YA24BPCKPPGKO3KS3UPYPQ====','sha256:BVJCW6BG3VJ77KZPYQHVKWN4BBI3INCPXVHKLOIGPGKCREIYHT7A====',216,1,13843,932,'"0-514689b9-gzip"',1788821782000000,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "captures" VALUES('example,harbour-gazette)/img/paper.svg',1794839842988879,'297b3ad4-2ff8-44c7-8370-601be6d8c0d0','http://harbour-gazette.example/img/paper.svg','response',200,'image/svg+xml','sha256:WTTELHZOEOZLALU7ERLT4IMQ2ZB2JNSBWJJG6KCLH7JY2LXTBT2A====','sha256:PMDI5JU2N3QCKXETRHMN3BLHKNN6CIUBFJWFCCTFCADNI5B3XRLQ====',403,1,31815,1121,'"0-c02bde1d-gzip"',1774052411000000,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "captures" VALUES('example,harbour-gazette)/img/plate-1.svg',1794839842839338,'4cf7ba56-60e2-4eb9-aed8-0019bba6b4df','http://harbour-gazette.example/img/plate-1.svg','response',200,'image/svg+xml','sha256:BJKIZMMDF43FVBGGVACKD2UB57LGA3ISUPATWDXBJSVQDL3UWRQA====','sha256:T6FIHB7JHW2XCIBMBQOZONXACELGKMEM4QTD5H65WECR6E65EXEA====',720,1,27247,1440,'"0-203e7b71-gzip"',1781671670000000,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "captures" VALUES('example,harbour-gazette)/js/gazette.js',1794839842716338,'e9593632-c1ff-439f-aa87-6daa4e59e8b4','http://harbour-gazette.example/js/gazette.js','response',200,'text/javascript','sha256:VRVFDAXLMTMR3ZDFO56VCE4FHO5EJNHSIU7DLAM4IKXKKZD26C7A====','sha256:EGWSW7JILRFCZTMSBI4VLQBPWHWB26RZVVDPXVPFRN775CNDUXNQ====',343,1,23900,1063,'"0-ca5a2a4a-gzip"',1762720377000000,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "captures" VALUES('example,harbour-gazette)/lost/404',1794839844369646,'0a2dd996-64fb-40ff-9363-29828282a8a3','http://harbour-gazette.example/lost/404','response',404,'text/html','sha256:LIZGB4MAV2ICJOXM3WYIJLVLAZZC6PENHF6CBIGGDW3TY6SDQVHA====','sha256:LIZGB4MAV2ICJOXM3WYIJLVLAZZC6PENHF6CBIGGDW3TY6SDQVHA====',949,1,49764,924,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "captures" VALUES('example,harbour-gazette)/lost/503',1794839843364450,'e1428baf-84b2-47da-99c5-6bf04e7205c9','http://harbour-gazette.example/lost/503','response',503,'text/html','sha256:TCCFHKTCLCY7FUDVNVCHT2MFVREQM3RIC45HU4XTJ4LOPVVOYFGA====','sha256:TCCFHKTCLCY7FUDVNVCHT2MFVREQM3RIC45HU4XTJ4LOPVVOYFGA====',949,1,46208,942,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "captures" VALUES('example,harbour-gazette)/news/1-blue-clock-new-rules-for-the-market-square',1794839843113517,'6f1417db-e1c1-42b6-a754-755eb0f04aaa','http://harbour-gazette.example/news/1-blue-clock-new-rules-for-the-market-square','response',200,'text/html','sha256:L5KVQZJTVK73Z3IWUZ4SVVPRBZ3KBERKH4W34NZZMOIEGAVX4ZYA====','sha256:EGTMBV46EOTGO6JIAI7NL6PVAHZE3W7QPCRT7KINQKXLB6Y5HCTQ====',1101,1,35266,1868,'"0-5e59ad23-gzip"',1771372948000000,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "captures" VALUES('example,harbour-gazette)/news/2-the-painted-parcel-of-the-ropewalk',1794839843238398,'2ba6fcc1-af7a-49a9-b721-bf4867c7ab76','http://harbour-gazette.example/news/2-the-painted-parcel-of-the-ropewalk','response',200,'text/html','sha256:D4SRH6SKM46WKU2YXBUTVBURVTKS6FPEJIGJMROX4WJVH5WIEDPQ====','sha256:QO6QQJ6ANHPOQUW5EDJ5SMCPAG6CZMEDFXJZYDRTVSZPJWR7PI4A====',1075,1,40731,1840,'"0-5222c111-gzip"',1783086226000000,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "captures" VALUES('example,harbour-gazette)/robots.txt',1794839842094196,'5e9124bb-5b56-4c20-b918-77fc588c5eed','http://harbour-gazette.example/robots.txt','response',200,'text/plain','sha256:PC7S2VYHUJ3J3GLQ6B6M6MKY3LYLPNTTMBPEHTAHZWF7JXY4XSYQ====','sha256:BVIXEGSYEK76ISV3GPMCAYGR4QTBJ6DNJEDO22AQT36H4M4GRSMQ====',98,1,1374,824,'"0-be34ee1e-gzip"',1786972079000000,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "captures" VALUES('example,harbour-gazette)/sitemap.xml',1794839842341920,'a38b0ae3-ad8f-44aa-8c19-42a1b8a83647','http://harbour-gazette.example/sitemap.xml','response',200,'application/xml','sha256:SUF3QXE4TS6ISCCWABFZC2EM2S77SZA4GHLVGL47MGGMCRRLRPMQ====','sha256:T4VQB6G3ID6FQTUAYPSFUVROUSM3QR46CDSPIF7UUDI637UZAXTA====',280,1,10233,961,'"3374512234-c30dd29d-gzip"',NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "captures" VALUES('example,harbour-gazette)/wire/late-news.html',1794839844614425,'6eae866a-c349-48da-9766-912b8c2f0cac','http://harbour-gazette.example/wire/late-news.html','revisit',404,'text/html','sha256:W4IYQIBA4W7E5OPBZ7F6QCOQ63US4ARHSCAKCJWX2EYFDMVTE4UQ====','sha256:W4IYQIBA4W7E5OPBZ7F6QCOQ63US4ARHSCAKCJWX2EYFDMVTE4UQ====',0,1,56894,551,NULL,NULL,NULL,NULL,'identical-payload-digest','http://harbour-gazette.example/data/next.json',1794839844492418,NULL);
INSERT INTO "captures" VALUES('example,hill-courier)/',1794839842218374,'6e9970a1-a156-4ff0-bcf1-86f58d6397d1','http://hill-courier.example/','response',200,'text/html','sha256:GXFDNAI2K2ADTMUEXS5A5EZ4Y3SUPPCMEOSPABZP44M4QYICIDHA====','sha256:MD7BDLMQMILETBXLZE7ALQPU5NXF3JHPGDB3IJM3LFHRFUUA5EBQ====',1235,1,7472,1950,'"0-7041daa0-gzip"',1771012518000000,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "captures" VALUES('example,hill-courier)/css/gazette.css',1794839842592067,'f31378ad-fadd-43de-8a4c-16861af19655','http://hill-courier.example/css/gazette.css','response',200,'text/css','sha256:2IGFCE7J775WQWZS2N4KL2FLE42ADR4ZC3COEZ7IV6SIKBPMQ76Q====','sha256:3KAX7PBP4GD5YRP6PTV4OA45IM6XA3R5YGXR6BZUC4HM24FXTRMQ====',1701,1,20641,2415,'"0-b864b8c7-gzip"',1782509164000000,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "captures" VALUES('example,hill-courier)/data/next.json',1794839844506031,'5ae49db4-bc91-4fb1-97e8-28af8b0f0dce','http://hill-courier.example/data/next.json','response',404,'text/html','sha256:EEE4TX2NSKYCR7NU3MGTREKGMCB2M754EL3YGP44S5M7GQDECFFQ====','sha256:EEE4TX2NSKYCR7NU3MGTREKGMCB2M754EL3YGP44S5M7GQDECFFQ====',935,1,55122,918,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "captures" VALUES('example,hill-courier)/favicon.svg',1794839842467445,'550a2e5e-4db2-46f4-a419-d5c11cd78ec9','http://hill-courier.example/favicon.svg','response',200,'image/svg+xml','sha256:E4SMAQU5TZUIPQMSZDMTPKGQYOGU7WOLTYEC5QLAM3VX7OLAUSQA====','sha256:YODKOSOI4Z25QG6UOOSBS23SP4D65FXRGJWNKY6CE3G33Y2ZO7VA====',216,1,15612,929,'"0-ab034f4e-gzip"',1770726160000000,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "captures" VALUES('example,hill-courier)/img/paper.svg',1794839842990026,'94262142-1043-4698-85cc-9ee43142ad1d','http://hill-courier.example/img/paper.svg','revisit',200,'image/svg+xml','sha256:WTTELHZOEOZLALU7ERLT4IMQ2ZB2JNSBWJJG6KCLH7JY2LXTBT2A====',NULL,0,1,33787,599,'"0-f2dca60a-gzip"',1794364089000000,NULL,NULL,'identical-payload-digest','http://harbour-gazette.example/img/paper.svg',1794839842988879,NULL);
INSERT INTO "captures" VALUES('example,hill-courier)/img/plate-1.svg',1794839842839527,'bc75d913-8c57-4f31-aa6d-2bb781a66ca9','http://hill-courier.example/img/plate-1.svg','response',200,'image/svg+xml','sha256:GYAH2UI5PRXVO2MOLFEIMXZPTKWGARXB4G6ZXKK7LSVV6PITGKYQ====','sha256:UNZCLCSIUGE27DYJPF2USZSVWVIBKQKXNU6VIFDTTKD3I4LCYOFQ====',718,1,29531,1435,'"0-64908209-gzip"',1792954941000000,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "captures" VALUES('example,hill-courier)/js/gazette.js',1794839842716540,'db7fa506-2ea1-4e09-8967-80b99b912e0c','http://hill-courier.example/js/gazette.js','revisit',200,'text/javascript','sha256:VRVFDAXLMTMR3ZDFO56VCE4FHO5EJNHSIU7DLAM4IKXKKZD26C7A====',NULL,0,1,25803,599,'"0-957b3e0f-gzip"',1792305363000000,NULL,NULL,'identical-payload-digest','http://harbour-gazette.example/js/gazette.js',1794839842716338,NULL);
INSERT INTO "captures" VALUES('example,hill-courier)/lost/404',1794839844380938,'abbc8bc8-e3c4-4760-9cf9-e1c89919cfca','http://hill-courier.example/lost/404','response',404,'text/html','sha256:4DKMJNODAIALQ2CZIPNQSUU46FOPKVTDHPEXGO2UWB4ZD5C4SV7A====','sha256:4DKMJNODAIALQ2CZIPNQSUU46FOPKVTDHPEXGO2UWB4ZD5C4SV7A====',945,1,51553,929,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "captures" VALUES('example,hill-courier)/lost/503',1794839843375068,'bd00810a-837f-4b63-b96d-f7429b16e75a','http://hill-courier.example/lost/503','response',503,'text/html','sha256:C4NILTLKGCUYYSOTVGKO5LXD5VC6COJPAPYVV3Z2QMYXXNVFRYQQ====','sha256:C4NILTLKGCUYYSOTVGKO5LXD5VC6COJPAPYVV3Z2QMYXXNVFRYQQ====',945,1,47985,945,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "captures" VALUES('example,hill-courier)/news/1-market-square-says-farewell-to-its-compass',1794839843116293,'b86de208-a81b-4c27-b9ec-ae8601045ed4','http://hill-courier.example/news/1-market-square-says-farewell-to-its-compass','response',200,'text/html','sha256:OTGMT464RELSMW6OUKVGXPSMSF3ES5SFGXZN6VWBWIIFQZFB445A====','sha256:Q2X7PM3IJHSVVNCFYCUP5CI7OWLSQ5GWC7AWOA7HCLJ56SP5DQGQ====',1059,1,38021,1823,'"0-fe885073-gzip"',1781388099000000,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "captures" VALUES('example,hill-courier)/news/2-a-quiet-parcel-comes-to-the-market-square',1794839843243851,'585a75a2-a859-4fc8-b841-db9c86f0240f','http://hill-courier.example/news/2-a-quiet-parcel-comes-to-the-market-square','response',200,'text/html','sha256:A6TI2YC4UUUIF6RH3WOXQHUZXJOCOWH4VHM552FLTKMPK66EYBPA====','sha256:EDHBETJYNZ5Z4MV4FHUHIWY5YXI7H4L7EYKNJFR4RNWZOYPKNP6Q====',1125,1,43453,1888,'"0-87a55fcd-gzip"',1774839339000000,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "captures" VALUES('example,hill-courier)/robots.txt',1794839842094524,'de19575a-adac-48fa-a120-b62da0a898cf','http://hill-courier.example/robots.txt','response',200,'text/plain','sha256:7MAUESLDDVXCRL7VROIHA5Y3PIHDSSOCW6MNWQULYZPUSNUSO5ZQ====','sha256:B7K37GDESRIVQ2DZQP43TA4TW5DRZUDBGV24CZSGPM7INMMJSTKA====',96,1,3039,819,'"0-566eeea0-gzip"',1789549631000000,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "captures" VALUES('example,hill-courier)/sitemap.xml',1794839842343619,'0575ddd5-389f-475c-a83a-8567a34ee5eb','http://hill-courier.example/sitemap.xml','response',200,'application/xml','sha256:UFX3C4TZQMFHNSLXQUMX7KCIIWLNJTV4SLYGFLT3VUJWBECOCIOA====','sha256:RCHGUHKLANFFJMEQAI537YNOTBYJVDM7KEII6W7ZK6KFFXQW2FJQ====',276,1,12041,954,'"1430100838-8e1524f9-gzip"',NULL,NULL,NULL,NULL,NULL,NULL,NULL);
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
INSERT INTO "crawls" VALUES(1,'20261116143722-a3bf','["http://harbour-gazette.example/", "http://hill-courier.example/"]',1794839842079452,1794839844629484,'interrupted','{"preset": null, "scope": "host", "rules": [], "include": [], "exclude": [], "depth": 2, "requisites": true, "sitemaps": true, "feeds": true, "guesses": true, "traps": true, "text": false, "robots": "obey", "allow_private": false, "max_pages": null, "max_bytes": null, "max_pages_per_host": null, "max_bytes_per_host": null, "time_limit": null, "disk_reserve": 200000000, "delay": 0.12, "delay_factor": 1.0, "max_crawl_delay": 60.0, "retries": 2, "retry_delay": 30.0, "concurrency": 128, "coherence": "off", "plan": "auto", "eta": 0.6, "revisits": null, "audit": true, "trust_dates": "auto", "user_agent": "asof/0.1 (web archive)", "connect_timeout": 20.0, "idle_timeout": 30.0, "fetch_timeout": 600.0, "max_body": 1073741824, "verify_tls": true, "proxy": "http://127.0.0.1:43379", "cookies": false, "conditional": true, "segment_bytes": 1000000000, "group_records": 2, "group_seconds": 1.0}','{"bytes": 14085, "captured": 25, "ended_by": "interrupted", "failed": 0, "left_out": 8, "queued": 5, "reasons": {"excluded by permalink": 4, "robots.txt": 4}, "revisited": 0, "seconds": 1.763, "to_revisit": 0}','[["host", "harbour-gazette.example", 3, 0, 0, 0, 0, 0, ""], ["host", "hill-courier.example", 3, 0, 0, 0, 0, 0, ""], ["4000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000080000200000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000400000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000008000000000000000000000000000000000000000800000000000100000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000400000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000080000000000000000000000000000000000000000000000000000000000000000080000000000000000000000000000000000000000000000000200000000001000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000800000000000000000000000000000000000000000000000000000000080000000000000000400000000000000000400000000000000000000000000000040001000000000000000000000000000000000000000000000000000000000000000000000000000000000000000004000000000000000100000000400000000000000000000000080000000000000020000000000000000000000000000c00000008000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000200000000100000000000000000000000000000000000000000000000000000000000000000000000000000000020000000000000000000000000000000000000000000000000000000000000000000000080000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000002001000000000000000000000000000000000000000000000000000000080000000000000000000080000000000000000000000000000008000000000000", "harbour-gazette.example/news/*", 2, 2, 0, 0, 0, 0, "http://harbour-gazette.example/news/1-blue-clock-new-rules-for-the-market-square"], ["20000040000000000020000000000000000000000000000000000000000000000000000000000000000000000000000000000000000200001000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000008000000000000000000000000000000000000000080000000000000020000000000000000000000000000000000080000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000020000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000200000000000000001000000000000000000000000000000000000000000000000000000000000200000000000000000000000000000000000000000000000000000000000004000000000000000020000000000000000000000000000000000000000000000000000000000000008000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000001000000000000000000000000000000000000000000000000000000000000000000000000000080000000000000000000000000000040000000000000000004000000000000000000000000000000000000000000000000000000000000000008000000000020000000000000000000000000000000000000000000400000000000020000000000000000000000000000000000000000000000000000100000000000000000000000000000000000001000000000000000000002000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000020000000000000000000000000000000000000000000000000000020000000000000000000000000000000000000000000000000000000000000100000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000080000000000001000000000000000000000000000000000000000000000000000000000000000000000002000000000000000000000000000000000000000000000000", "hill-courier.example/news/*", 2, 2, 0, 0, 0, 0, "http://hill-courier.example/news/1-market-square-says-farewell-to-its-compass"]]',NULL);
CREATE TABLE payloads (
  key INTEGER PRIMARY KEY,
  segment INTEGER NOT NULL REFERENCES segments(no),
  offset INTEGER NOT NULL
);
INSERT INTO "payloads" VALUES(34455215588135560,1,43453);
INSERT INTO "payloads" VALUES(46523408278811493,1,27247);
INSERT INTO "payloads" VALUES(104049383097698968,1,47985);
INSERT INTO "payloads" VALUES(140263872189068246,1,40731);
INSERT INTO "payloads" VALUES(148790989934897922,1,55122);
INSERT INTO "payloads" VALUES(155877739609350943,1,17379);
INSERT INTO "payloads" VALUES(176286916186597000,1,15612);
INSERT INTO "payloads" VALUES(180759845296426175,1,13843);
INSERT INTO "payloads" VALUES(242248147339143171,1,7472);
INSERT INTO "payloads" VALUES(243202991586789109,1,29531);
INSERT INTO "payloads" VALUES(406210237663209730,1,49764);
INSERT INTO "payloads" VALUES(429343374894083067,1,35266);
INSERT INTO "payloads" VALUES(526020240803926386,1,38021);
INSERT INTO "payloads" VALUES(543795178557286249,1,1374);
INSERT INTO "payloads" VALUES(671242527768693704,1,10233);
INSERT INTO "payloads" VALUES(686875061371898655,1,46208);
INSERT INTO "payloads" VALUES(727044466734018727,1,12041);
INSERT INTO "payloads" VALUES(776489509049486737,1,23900);
INSERT INTO "payloads" VALUES(814698920090417963,1,31815);
INSERT INTO "payloads" VALUES(824467153444821988,1,53358);
INSERT INTO "payloads" VALUES(879606007199623419,1,4689);
INSERT INTO "payloads" VALUES(945972599603593142,1,20641);
INSERT INTO "payloads" VALUES(1012549377781145611,1,51553);
INSERT INTO "payloads" VALUES(1130425653841221346,1,3039);
CREATE TABLE segments (
  no INTEGER PRIMARY KEY,
  file TEXT NOT NULL UNIQUE,
  crawl INTEGER REFERENCES crawls(no),
  committed INTEGER NOT NULL,
  sealed INTEGER NOT NULL DEFAULT 0
);
INSERT INTO "segments" VALUES(1,'000001-20261116143722-a3bf.warc.gz',1,57847,0);
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
INSERT INTO "targets" VALUES(14,1,4985063406429505642,'http://harbour-gazette.example/lost/503','harbour-gazette.example','queued',1.0,1,'L','http://harbour-gazette.example/',1,1794839873365501,'status 503');
INSERT INTO "targets" VALUES(15,1,-3182633766858405902,'http://hill-courier.example/favicon.svg','hill-courier.example','done',-0.5,0,'E','http://hill-courier.example/',1,0,NULL);
INSERT INTO "targets" VALUES(16,1,7044312915221803492,'http://hill-courier.example/css/gazette.css','hill-courier.example','done',-0.5,0,'E','http://hill-courier.example/',1,0,NULL);
INSERT INTO "targets" VALUES(17,1,-7134755201234143039,'http://hill-courier.example/js/gazette.js','hill-courier.example','done',-0.5,0,'E','http://hill-courier.example/',1,0,NULL);
INSERT INTO "targets" VALUES(18,1,1900270943321483377,'http://hill-courier.example/img/plate-1.svg','hill-courier.example','done',-0.5,0,'E','http://hill-courier.example/',1,0,NULL);
INSERT INTO "targets" VALUES(19,1,7703265473544374281,'http://hill-courier.example/news/1-market-square-says-farewell-to-its-compass','hill-courier.example','done',1.0,1,'L','http://hill-courier.example/',1,0,NULL);
INSERT INTO "targets" VALUES(20,1,-801876796110952093,'http://hill-courier.example/news/2-a-quiet-parcel-comes-to-the-market-square','hill-courier.example','done',1.0,1,'L','http://hill-courier.example/',1,0,NULL);
INSERT INTO "targets" VALUES(21,1,7944881993915720043,'http://hill-courier.example/permalink/1','hill-courier.example','left_out',1.0,1,'L','http://hill-courier.example/',0,1,'excluded by permalink');
INSERT INTO "targets" VALUES(22,1,5934264755355312211,'http://hill-courier.example/lost/503','hill-courier.example','queued',1.0,1,'L','http://hill-courier.example/',1,1794839873375882,'status 503');
INSERT INTO "targets" VALUES(23,1,7199622122178538622,'http://harbour-gazette.example/img/paper.svg','harbour-gazette.example','done',-0.5,0,'EE','http://harbour-gazette.example/css/gazette.css',1,0,NULL);
INSERT INTO "targets" VALUES(24,1,-6626427393997753560,'http://hill-courier.example/img/paper.svg','hill-courier.example','done',-0.5,0,'EE','http://hill-courier.example/css/gazette.css',1,0,NULL);
INSERT INTO "targets" VALUES(25,1,6724149777556945923,'http://harbour-gazette.example/data/next.json','harbour-gazette.example','done',1001.0,1,'EX','http://harbour-gazette.example/js/gazette.js',1,0,NULL);
INSERT INTO "targets" VALUES(26,1,5226435885321020407,'http://harbour-gazette.example/wire/late-news.html','harbour-gazette.example','done',1001.0,1,'EX','http://harbour-gazette.example/js/gazette.js',1,0,NULL);
INSERT INTO "targets" VALUES(27,1,2424553039657424762,'http://harbour-gazette.example/api/stories.json','harbour-gazette.example','queued',1001.0,1,'EX','http://harbour-gazette.example/js/gazette.js',0,0,NULL);
INSERT INTO "targets" VALUES(28,1,2015690409501003554,'http://hill-courier.example/data/next.json','hill-courier.example','done',1001.0,1,'EX','http://hill-courier.example/js/gazette.js',1,0,NULL);
INSERT INTO "targets" VALUES(29,1,-405708090531524040,'http://hill-courier.example/wire/late-news.html','hill-courier.example','queued',1001.0,1,'EX','http://hill-courier.example/js/gazette.js',0,0,NULL);
INSERT INTO "targets" VALUES(30,1,4170361818917920014,'http://hill-courier.example/api/stories.json','hill-courier.example','queued',1001.0,1,'EX','http://hill-courier.example/js/gazette.js',0,0,NULL);
INSERT INTO "targets" VALUES(31,1,-7554155755840852865,'http://harbour-gazette.example/desk/draft-1','harbour-gazette.example','left_out',2.0,2,'LL','http://harbour-gazette.example/news/1-blue-clock-new-rules-for-the-market-square',0,1,'robots.txt');
INSERT INTO "targets" VALUES(32,1,-538135097300985323,'http://harbour-gazette.example/permalink/2','harbour-gazette.example','left_out',2.0,2,'LL','http://harbour-gazette.example/news/1-blue-clock-new-rules-for-the-market-square',0,0,'excluded by permalink');
INSERT INTO "targets" VALUES(33,1,-7569012567989722581,'http://hill-courier.example/desk/draft-1','hill-courier.example','left_out',2.0,2,'LL','http://hill-courier.example/news/1-market-square-says-farewell-to-its-compass',0,1,'robots.txt');
INSERT INTO "targets" VALUES(34,1,-6631235261946887764,'http://hill-courier.example/permalink/2','hill-courier.example','left_out',2.0,2,'LL','http://hill-courier.example/news/1-market-square-says-farewell-to-its-compass',0,0,'excluded by permalink');
INSERT INTO "targets" VALUES(35,1,-8476916458172606927,'http://harbour-gazette.example/lost/404','harbour-gazette.example','done',2.0,2,'LL','http://harbour-gazette.example/news/2-the-painted-parcel-of-the-ropewalk',1,0,NULL);
INSERT INTO "targets" VALUES(36,1,-3230424731050805627,'http://harbour-gazette.example/desk/draft-2','harbour-gazette.example','left_out',2.0,2,'LL','http://harbour-gazette.example/news/2-the-painted-parcel-of-the-ropewalk',0,1,'robots.txt');
INSERT INTO "targets" VALUES(37,1,5214867207547998901,'http://hill-courier.example/lost/404','hill-courier.example','done',2.0,2,'LL','http://hill-courier.example/news/2-a-quiet-parcel-comes-to-the-market-square',1,0,NULL);
INSERT INTO "targets" VALUES(38,1,-8983152660374036753,'http://hill-courier.example/desk/draft-2','hill-courier.example','left_out',2.0,2,'LL','http://hill-courier.example/news/2-a-quiet-parcel-comes-to-the-market-square',0,1,'robots.txt');
CREATE INDEX targets_queue ON targets (crawl, host, priority, no) WHERE state = 'queued';
COMMIT;
PRAGMA user_version = 3;
