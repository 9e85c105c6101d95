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
INSERT INTO "captures" VALUES('example,harbour-gazette)/',1794962102534417,'917ec9bc-cf9e-48da-a497-2fa5490437bc','http://harbour-gazette.example/','response',200,'text/html','sha256:TIIACEAWF27GSSR4ZVK4FGEJ5KADVGIVU4R7BEBVXNPQ34U5C2CA====','sha256:KMQW3ICBFJONATI5BNKIFOQZY3ZD4QUQCQBSI2IZGY25R22AJXYA====',1777,1,3023,2497,'"133-e463229b-gzip"',1794314953000000,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "captures" VALUES('example,harbour-gazette)/',1794962106002653,'ffa57570-acd2-4651-9a73-37bbd378a7a3','http://harbour-gazette.example/','revisit',304,NULL,'sha256:TIIACEAWF27GSSR4ZVK4FGEJ5KADVGIVU4R7BEBVXNPQ34U5C2CA====',NULL,0,2,13148,555,'"133-e463229b-gzip"',1794314953000000,NULL,NULL,'server-not-modified','http://harbour-gazette.example/',1794962102534417,NULL,NULL);
INSERT INTO "captures" VALUES('example,harbour-gazette)/css/gazette.css',1794962102665260,'70981046-7eca-4182-b6ad-7f4054ba02ea','http://harbour-gazette.example/css/gazette.css','response',200,'text/css','sha256:EKOJ7JY44YY7VCR5TG2PAP2662HADJEVNFEFN5QGODVS7Y7SI2DQ====','sha256:6UIA6SV6OS7QOWWDTGEKBY73UICVMDZKRXYQO6BBBVK2EUC7A3RA====',1703,1,8103,2420,'"0-c3cf64ec-gzip"',1760542556000000,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "captures" VALUES('example,harbour-gazette)/css/gazette.css',1794962105042494,'7f1595b6-a903-4518-ad29-9623b1c7110e','http://harbour-gazette.example/css/gazette.css','revisit',304,NULL,'sha256:EKOJ7JY44YY7VCR5TG2PAP2662HADJEVNFEFN5QGODVS7Y7SI2DQ====',NULL,0,2,4354,557,'"0-c3cf64ec-gzip"',1760542556000000,NULL,NULL,'server-not-modified','http://harbour-gazette.example/css/gazette.css',1794962102665260,NULL,NULL);
INSERT INTO "captures" VALUES('example,harbour-gazette)/favicon.svg',1794962102642731,'740cdf78-05ce-4f83-85bc-34c9244fd181','http://harbour-gazette.example/favicon.svg','response',200,'image/svg+xml','sha256:FARQD4QIYTF75BFC52LLFQN4B45BU5YA24BPCKPPGKO3KS3UPYPQ====','sha256:BVJCW6BG3VJ77KZPYQHVKWN4BBI3INCPXVHKLOIGPGKCREIYHT7A====',216,1,6335,932,'"0-514689b9-gzip"',1761207540000000,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "captures" VALUES('example,harbour-gazette)/favicon.svg',1794962105202653,'a47715ce-242e-4bb2-abe8-e44d307c7254','http://harbour-gazette.example/favicon.svg','revisit',304,NULL,'sha256:FARQD4QIYTF75BFC52LLFQN4B45BU5YA24BPCKPPGKO3KS3UPYPQ====',NULL,0,2,5816,567,'"0-514689b9-gzip"',1761207540000000,NULL,NULL,'server-not-modified','http://harbour-gazette.example/favicon.svg',1794962102642731,NULL,NULL);
INSERT INTO "captures" VALUES('example,harbour-gazette)/harbour',1794962102796722,'c1e02d3d-eb75-48e6-8b8e-b9edf8082551','http://harbour-gazette.example/harbour/','response',200,'text/html','sha256:E337BDNLRHDI4FQ5HSFZ7QRP26BTHZTRE5LY6S5VF2J2DCACWQGQ====','sha256:TQLXDTD6KL74EAJYCHWSLHIKEEI7GBAZX34VTU2T7V7O5OXJEHZA====',1603,1,20905,2329,'"8-e8657b48-gzip"',1786927741000000,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "captures" VALUES('example,harbour-gazette)/harbour',1794962106791522,'5f4e1cc8-dd2b-4172-a614-3439320a24d3','http://harbour-gazette.example/harbour/','revisit',304,NULL,'sha256:E337BDNLRHDI4FQ5HSFZ7QRP26BTHZTRE5LY6S5VF2J2DCACWQGQ====',NULL,0,2,20573,554,'"8-e8657b48-gzip"',1786927741000000,NULL,NULL,'server-not-modified','http://harbour-gazette.example/harbour/',1794962102796722,NULL,NULL);
INSERT INTO "captures" VALUES('example,harbour-gazette)/harbour/2-the-painted-parcel-of-the-ropewalk',1794962102921948,'1878c0c4-ce3a-4744-90f3-35a5fe75c233','http://harbour-gazette.example/harbour/2-the-painted-parcel-of-the-ropewalk','response',200,'text/html','sha256:UU4O7CZ2MJZT5SZTZU2DLU74XVDKFXBQJFE3SH2NEPNXNXTO4A2Q====','sha256:FVXCDPHADO2KCNTDLZWOQGXRFC5OY53LK4NOC23LUELPD5YTRI3A====',1769,1,34280,2538,'"27-f0f220f4-gzip"',1791147357000000,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "captures" VALUES('example,harbour-gazette)/harbour/2-the-painted-parcel-of-the-ropewalk',1794962106159086,'c80efa12-37f7-447c-b125-b242f66ee05a','http://harbour-gazette.example/harbour/2-the-painted-parcel-of-the-ropewalk','revisit',304,NULL,'sha256:UU4O7CZ2MJZT5SZTZU2DLU74XVDKFXBQJFE3SH2NEPNXNXTO4A2Q====',NULL,0,2,14591,581,'"27-f0f220f4-gzip"',1791147357000000,NULL,NULL,'server-not-modified','http://harbour-gazette.example/harbour/2-the-painted-parcel-of-the-ropewalk',1794962102921948,NULL,NULL);
INSERT INTO "captures" VALUES('example,harbour-gazette)/harbour/2-the-painted-parcel-of-the-ropewalk',1794962107350298,'88a3ac25-1c3a-4d57-b498-7dc4c4b7f18f','http://harbour-gazette.example/harbour/2-the-painted-parcel-of-the-ropewalk','revisit',200,'text/html','sha256:UU4O7CZ2MJZT5SZTZU2DLU74XVDKFXBQJFE3SH2NEPNXNXTO4A2Q====',NULL,0,2,24336,627,'"27-f0f220f4-gzip"',1791147357000000,NULL,NULL,'identical-payload-digest','http://harbour-gazette.example/harbour/2-the-painted-parcel-of-the-ropewalk',1794962102921948,NULL,NULL);
INSERT INTO "captures" VALUES('example,harbour-gazette)/harbour/3-the-ferry-that-missed-lantern-hill',1794962102819602,'a1c90300-11f0-417b-bc6e-9fbb12bbc7eb','http://harbour-gazette.example/harbour/3-the-ferry-that-missed-lantern-hill','response',200,'text/html','sha256:PZO4PTVA2FJEKKM5EORHHCJGWS3UNZNCZZ4IJ5RUVFOPL2AEGZZQ====','sha256:5KQ5TVLZXCMBCAMA3G5GAY4OTGFRA62AXV36MLWMVJ3O2K6WMK2A====',1802,1,24092,2565,'"50-91d460b5-gzip"',1793684378000000,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "captures" VALUES('example,harbour-gazette)/harbour/3-the-ferry-that-missed-lantern-hill',1794962106318876,'54253b0b-810f-4112-b5ae-e0474896b8fb','http://harbour-gazette.example/harbour/3-the-ferry-that-missed-lantern-hill','revisit',304,NULL,'sha256:PZO4PTVA2FJEKKM5EORHHCJGWS3UNZNCZZ4IJ5RUVFOPL2AEGZZQ====',NULL,0,2,16118,581,'"50-91d460b5-gzip"',1793684378000000,NULL,NULL,'server-not-modified','http://harbour-gazette.example/harbour/3-the-ferry-that-missed-lantern-hill',1794962102819602,NULL,NULL);
INSERT INTO "captures" VALUES('example,harbour-gazette)/harbour/4-quiet-weathervane-new-rules-for-lantern-hill',1794962102843411,'6ba6e3ff-8643-4aba-be41-36a6ae84dedd','http://harbour-gazette.example/harbour/4-quiet-weathervane-new-rules-for-lantern-hill','response',200,'text/html','sha256:APFPGKPZGN6DUE64QIURUT7OBUFGAOT4AAGW5ZNOR2IPIUYAP7TA====','sha256:7DYGHBGWUMLPVSRHJBIWZP5BXBED3CRLVRHTVTZINZI3EJEE7P6A====',1324,1,27542,2103,'"74-082ea2aa-gzip"',1794909842000000,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "captures" VALUES('example,harbour-gazette)/harbour/4-quiet-weathervane-new-rules-for-lantern-hill',1794962106482081,'5a486b76-f1ae-40e9-9130-3c94887681e0','http://harbour-gazette.example/harbour/4-quiet-weathervane-new-rules-for-lantern-hill','revisit',304,NULL,'sha256:APFPGKPZGN6DUE64QIURUT7OBUFGAOT4AAGW5ZNOR2IPIUYAP7TA====',NULL,0,2,17645,586,'"74-082ea2aa-gzip"',1794909842000000,NULL,NULL,'server-not-modified','http://harbour-gazette.example/harbour/4-quiet-weathervane-new-rules-for-lantern-hill',1794962102843411,NULL,NULL);
INSERT INTO "captures" VALUES('example,harbour-gazette)/img/paper.svg',1794962102896069,'b6ffeba5-8a12-4d49-9e56-ccdf3378d14a','http://harbour-gazette.example/img/paper.svg','response',200,'image/svg+xml','sha256:WTTELHZOEOZLALU7ERLT4IMQ2ZB2JNSBWJJG6KCLH7JY2LXTBT2A====','sha256:PMDI5JU2N3QCKXETRHMN3BLHKNN6CIUBFJWFCCTFCADNI5B3XRLQ====',403,1,32290,1121,'"0-c02bde1d-gzip"',1746438169000000,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "captures" VALUES('example,harbour-gazette)/img/paper.svg',1794962105355542,'00f6dfd5-a8b3-4722-90b3-29f44b3e6347','http://harbour-gazette.example/img/paper.svg','revisit',304,NULL,'sha256:WTTELHZOEOZLALU7ERLT4IMQ2ZB2JNSBWJJG6KCLH7JY2LXTBT2A====',NULL,0,2,7279,571,'"0-c02bde1d-gzip"',1746438169000000,NULL,NULL,'server-not-modified','http://harbour-gazette.example/img/paper.svg',1794962102896069,NULL,NULL);
INSERT INTO "captures" VALUES('example,harbour-gazette)/img/plate-1.svg',1794962102750057,'d5b80a56-db09-45b1-8a93-608d0bdf8562','http://harbour-gazette.example/img/plate-1.svg','response',200,'image/svg+xml','sha256:BJKIZMMDF43FVBGGVACKD2UB57LGA3ISUPATWDXBJSVQDL3UWRQA====','sha256:T6FIHB7JHW2XCIBMBQOZONXACELGKMEM4QTD5H65WECR6E65EXEA====',720,1,16756,1440,'"0-203e7b71-gzip"',1754057428000000,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "captures" VALUES('example,harbour-gazette)/img/plate-1.svg',1794962105518920,'6c382bc1-ee90-49c4-8a7d-3f99e731ac75','http://harbour-gazette.example/img/plate-1.svg','revisit',304,NULL,'sha256:BJKIZMMDF43FVBGGVACKD2UB57LGA3ISUPATWDXBJSVQDL3UWRQA====',NULL,0,2,8762,572,'"0-203e7b71-gzip"',1754057428000000,NULL,NULL,'server-not-modified','http://harbour-gazette.example/img/plate-1.svg',1794962102750057,NULL,NULL);
INSERT INTO "captures" VALUES('example,harbour-gazette)/img/plate-2.png',1794962102719049,'60330b36-73c9-4401-aa9c-2d8a57b58c51','http://harbour-gazette.example/img/plate-2.png','response',200,'image/png','sha256:CY4SODFM5HASINMH5MVNM6IU42IJWV73T7D5UVX5P2NHDZGBPCFQ====','sha256:CY4SODFM5HASINMH5MVNM6IU42IJWV73T7D5UVX5P2NHDZGBPCFQ====',2022,1,13219,2688,'"0-dc08f1d7"',1752171474000000,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "captures" VALUES('example,harbour-gazette)/img/plate-2.png',1794962105673066,'c64425a4-d5a1-4307-a2d1-7c05f3b5aa8a','http://harbour-gazette.example/img/plate-2.png','revisit',304,NULL,'sha256:CY4SODFM5HASINMH5MVNM6IU42IJWV73T7D5UVX5P2NHDZGBPCFQ====',NULL,0,2,10236,548,'"0-dc08f1d7"',1752171474000000,NULL,NULL,'server-not-modified','http://harbour-gazette.example/img/plate-2.png',1794962102719049,NULL,NULL);
INSERT INTO "captures" VALUES('example,harbour-gazette)/js/gazette.js',1794962102694040,'58831ec0-7838-457d-a915-2e889d6c57f0','http://harbour-gazette.example/js/gazette.js','response',200,'text/javascript','sha256:JN64P5YB2T2W4JPJBF4F5WGOT66N2MUMQXLPZHXCSHU7YSJVADLA====','sha256:4PSFAPF22VQA36HXIZRKAGMOEOE7DJSJEDJY3DGIRZMJBTJI536A====',290,1,11362,1010,'"0-ca5a2a4a-gzip"',1735106135000000,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "captures" VALUES('example,harbour-gazette)/js/gazette.js',1794962105831393,'6ce52d3a-c9a3-4d4c-9596-a3ba379cb913','http://harbour-gazette.example/js/gazette.js','revisit',304,NULL,'sha256:JN64P5YB2T2W4JPJBF4F5WGOT66N2MUMQXLPZHXCSHU7YSJVADLA====',NULL,0,2,11689,562,'"0-ca5a2a4a-gzip"',1735106135000000,NULL,NULL,'server-not-modified','http://harbour-gazette.example/js/gazette.js',1794962102694040,NULL,NULL);
INSERT INTO "captures" VALUES('example,harbour-gazette)/lost/404',1794962102950235,'d46a89bf-ec62-4c08-8ee8-7e9e28acec6c','http://harbour-gazette.example/lost/404','response',404,'text/html','sha256:7DMW2VJQA4WHDQF3L6KWTTLJPJHRD6FDC5AXEQRPXNTOE5IPN6CQ====','sha256:7DMW2VJQA4WHDQF3L6KWTTLJPJHRD6FDC5AXEQRPXNTOE5IPN6CQ====',921,1,37679,906,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "captures" VALUES('example,harbour-gazette)/lost/404',1794962104884843,'bd71b607-a113-431f-9168-99c5ca497f80','http://harbour-gazette.example/lost/404','revisit',404,'text/html','sha256:7DMW2VJQA4WHDQF3L6KWTTLJPJHRD6FDC5AXEQRPXNTOE5IPN6CQ====','sha256:7DMW2VJQA4WHDQF3L6KWTTLJPJHRD6FDC5AXEQRPXNTOE5IPN6CQ====',0,2,2915,533,NULL,NULL,NULL,NULL,'identical-payload-digest','http://harbour-gazette.example/lost/404',1794962102950235,NULL,NULL);
INSERT INTO "captures" VALUES('example,harbour-gazette)/permalink/1',1794962102869956,'b4e23121-0b73-4eb4-9f59-d0b78101e557','http://harbour-gazette.example/permalink/1','response',301,'text/html','sha256:YVKMMAHX7C5PNNL6IUEVL7IBNE37H6W3EVRAKSKQYIX6Z45KQYZQ====','sha256:YVKMMAHX7C5PNNL6IUEVL7IBNE37H6W3EVRAKSKQYIX6Z45KQYZQ====',910,1,30509,939,NULL,NULL,'http://harbour-gazette.example/harbour/3-the-ferry-that-missed-lantern-hill',NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "captures" VALUES('example,harbour-gazette)/permalink/1',1794962106638682,'9aa81b4c-4565-41ec-9909-b324c97f4c64','http://harbour-gazette.example/permalink/1','revisit',301,'text/html','sha256:YVKMMAHX7C5PNNL6IUEVL7IBNE37H6W3EVRAKSKQYIX6Z45KQYZQ====','sha256:YVKMMAHX7C5PNNL6IUEVL7IBNE37H6W3EVRAKSKQYIX6Z45KQYZQ====',0,2,19100,578,NULL,NULL,'http://harbour-gazette.example/harbour/3-the-ferry-that-missed-lantern-hill',NULL,'identical-payload-digest','http://harbour-gazette.example/permalink/1',1794962102869956,NULL,NULL);
INSERT INTO "captures" VALUES('example,harbour-gazette)/robots.txt',1794962102481450,'dd70f94e-5a3c-42ec-bfdf-a42b30bd32fa','http://harbour-gazette.example/robots.txt','response',200,'text/plain','sha256:PC7S2VYHUJ3J3GLQ6B6M6MKY3LYLPNTTMBPEHTAHZWF7JXY4XSYQ====','sha256:BVIXEGSYEK76ISV3GPMCAYGR4QTBJ6DNJEDO22AQT36H4M4GRSMQ====',98,1,1362,824,'"0-be34ee1e-gzip"',1759357837000000,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "captures" VALUES('example,harbour-gazette)/robots.txt',1794962104728040,'01350f58-0d73-434f-9938-d6fdcc0c1540','http://harbour-gazette.example/robots.txt','revisit',304,NULL,'sha256:PC7S2VYHUJ3J3GLQ6B6M6MKY3LYLPNTTMBPEHTAHZWF7JXY4XSYQ====',NULL,0,2,1508,561,'"0-be34ee1e-gzip"',1759357837000000,NULL,NULL,'server-not-modified','http://harbour-gazette.example/robots.txt',1794962102481450,NULL,NULL);
INSERT INTO "captures" VALUES('example,harbour-gazette)/sitemap.xml',1794962102772922,'7aa9360e-3cf7-4d5f-b4cf-d2155300b7ed','http://harbour-gazette.example/sitemap.xml','response',200,'application/xml','sha256:HPNGTZOJCPGDXZHRRNPKBGF6VF7DDSWNU2UNCMRPAK3K6W3RMIHA====','sha256:5ZIBSTF5Q7X27LJKI36NRXRHAP7FHUQCW5ZKBLITPZDPW6S6IRPQ====',335,1,19044,1016,'"2858947648-c30dd29d-gzip"',NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "captures" VALUES('example,harbour-gazette)/sitemap.xml',1794962106957205,'8a8116bb-9892-43d8-82f9-204b824b49a8','http://harbour-gazette.example/sitemap.xml','revisit',304,NULL,'sha256:HPNGTZOJCPGDXZHRRNPKBGF6VF7DDSWNU2UNCMRPAK3K6W3RMIHA====',NULL,0,2,21999,549,'"2858947648-c30dd29d-gzip"',NULL,NULL,NULL,'server-not-modified','http://harbour-gazette.example/sitemap.xml',1794962102772922,NULL,NULL);
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
INSERT INTO "crawls" VALUES(1,'20261118003502-07f0','["http://harbour-gazette.example/"]',1794962102411684,1794962102990662,'finished','{"preset": null, "scope": "host", "rules": [], "include": [], "exclude": [], "depth": null, "requisites": true, "sitemaps": true, "feeds": true, "guesses": true, "traps": true, "text": false, "robots": "obey", "allow_private": false, "max_pages": null, "max_bytes": null, "max_pages_per_host": null, "max_bytes_per_host": null, "time_limit": null, "disk_reserve": 200000000, "delay": 0.02, "delay_factor": 1.0, "max_crawl_delay": 60.0, "retries": 2, "retry_delay": 2.0, "concurrency": 128, "coherence": "off", "plan": "auto", "eta": 0.6, "revisits": null, "audit": true, "trust_dates": "auto", "user_agent": "asof/0.1 (web archive)", "connect_timeout": 20.0, "idle_timeout": 30.0, "fetch_timeout": 600.0, "max_body": 1073741824, "verify_tls": true, "proxy": "http://127.0.0.1:41015", "cookies": false, "conditional": true, "segment_bytes": 1000000000, "group_records": 64, "group_seconds": 1.0}','{"bytes": 18781, "captured": 15, "ended_by": "done", "failed": 0, "left_out": 1, "queued": 0, "reasons": {"robots.txt": 1}, "revisited": 0, "seconds": 0.503, "to_revisit": 0}','[["host", "harbour-gazette.example", 5, 0, 0, 0, 0, 0, ""], ["88000000000000000000000004001000000000000000000000000000000000000000400040000000000020000000000000800000000000000000000000000000000000000000000000000000000000000001000000000000000000000000000000000000000000000000040000000000000000000000000000508000000000000000000000000000000000000000000000000000000020000000000000000100000000000000000000000000000000000000000000000000000000008000000000040000000000000000000000400080000000000000000000100000000200200000800000000100000000000000000000000000000000000000002000000000000000000000400000800000000000004000000000000000000000000000000000000000000200000000000000000000000004000080020000000000000000000000000000000000000000000000000000000000000000000000000000000000080000000000000000000000000000000000000000000000000000000800100000000000000001000000000000010002000000000000000000000000000600000000000000000000000800000000000000000000000000000000000000000000000000001000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000400000000000000010000100000000000000000000000000000000000000000000000008000000400800000000000004000004000000000000000000000000000000000000000080000000000000000a00000000000000000400000000000000000000000000000000000000000200400000000041000000000000000200000000000000000008000000000000000000000000080000000000000000000020000000004000000000000000000000000000000000000000000000800000000000000010000000800000000000002000000000000000000010000400000000000000000040000008000004000000001000000000000000000000000000000000000000000200000000000000000000000000002000000000000000000008000000000000000000000080000000000000000000000000000001000000000000000000000000001000000000000000004000000001000000000000000000000000000000000000000000000000080000000000000000000000000100000000000000000002000000000000000000000400000000100000000000000000000000000000000000000020000000000000000000000000000000000001000000004000000000000040000000000000000000000000000000000000004000000000000000000400000000000004080000000000080000000000000000000000000000008000800000000", "harbour-gazette.example/harbour/*", 3, 3, 0, 0, 0, 0, "http://harbour-gazette.example/harbour/3-the-ferry-that-missed-lantern-hill"]]',NULL);
INSERT INTO "crawls" VALUES(2,'20261118003504-dc5e','["http://harbour-gazette.example/"]',1794962104283162,1794962107418158,'interrupted','{"preset": null, "scope": "host", "rules": [], "include": [], "exclude": [], "depth": null, "requisites": true, "sitemaps": true, "feeds": true, "guesses": true, "traps": true, "text": false, "robots": "obey", "allow_private": false, "max_pages": null, "max_bytes": null, "max_pages_per_host": null, "max_bytes_per_host": null, "time_limit": null, "disk_reserve": 200000000, "delay": 0.15, "delay_factor": 1.0, "max_crawl_delay": 60.0, "retries": 2, "retry_delay": 2.0, "concurrency": 128, "coherence": "inducible", "plan": "auto", "eta": 0.6, "revisits": null, "audit": true, "trust_dates": "auto", "user_agent": "asof/0.1 (web archive)", "connect_timeout": 20.0, "idle_timeout": 30.0, "fetch_timeout": 600.0, "max_body": 1073741824, "verify_tls": true, "proxy": "http://127.0.0.1:41015", "cookies": false, "conditional": true, "segment_bytes": 1000000000, "group_records": 64, "group_seconds": 1.0}','{"bytes": 6016, "captured": 15, "ended_by": "interrupted", "failed": 0, "left_out": 1, "queued": 0, "reasons": {"robots.txt": 1}, "revisited": 1, "seconds": 2.687, "to_revisit": 11}','[["host", "harbour-gazette.example", 5, 0, 0, 0, 0, 0, ""], ["88000000000000000000000004001000000000000000000000000000000000000000400040000000000020000000000000800000000000000000000000000000000000000000000000000000000000000001000000000000000000000000000000000000000000000000040000000000000000000000000000508000000000000000000000000000000000000000000000000000000020000000000000000100000000000000000000000000000000000000000000000000000000008000000000040000000000000000000000400080000000000000000000100000000200200000800000000100000000000000000000000000000000000000002000000000000000000000400000800000000000004000000000000000000000000000000000000000000200000000000000000000000004000080020000000000000000000000000000000000000000000000000000000000000000000000000000000000080000000000000000000000000000000000000000000000000000000800100000000000000001000000000000010002000000000000000000000000000600000000000000000000000800000000000000000000000000000000000000000000000000001000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000400000000000000010000100000000000000000000000000000000000000000000000008000000400800000000000004000004000000000000000000000000000000000000000080000000000000000a00000000000000000400000000000000000000000000000000000000000200400000000041000000000000000200000000000000000008000000000000000000000000080000000000000000000020000000004000000000000000000000000000000000000000000000800000000000000010000000800000000000002000000000000000000010000400000000000000000040000008000004000000001000000000000000000000000000000000000000000200000000000000000000000000002000000000000000000008000000000000000000000080000000000000000000000000000001000000000000000000000000001000000000000000004000000001000000000000000000000000000000000000000000000000080000000000000000000000000100000000000000000002000000000000000000000400000000100000000000000000000000000000000000000020000000000000000000000000000000000001000000004000000000000040000000000000000000000000000000000000004000000000000000000400000000000004080000000000080000000000000000000000000000008000800000000", "harbour-gazette.example/harbour/*", 3, 3, 0, 1, 1, 0, "http://harbour-gazette.example/harbour/2-the-painted-parcel-of-the-ropewalk"]]','{"mode": "inducible", "plan": "auto", "expected": 0.9999167196662845, "pages": 13, "eta": null, "turn": 1794962106957205, "newcomers": 0.0, "secret": "118f1c6c512e4989176be80391b4aa6e"}');
CREATE TABLE payloads (
  key INTEGER PRIMARY KEY,
  segment INTEGER NOT NULL REFERENCES segments(no),
  offset INTEGER NOT NULL
);
INSERT INTO "payloads" VALUES(17081130563090371,1,27542);
INSERT INTO "payloads" VALUES(46523408278811493,1,16756);
INSERT INTO "payloads" VALUES(100084629868813330,1,13219);
INSERT INTO "payloads" VALUES(155877739609350943,1,8103);
INSERT INTO "payloads" VALUES(175498586496736360,1,20905);
INSERT INTO "payloads" VALUES(180759845296426175,1,6335);
INSERT INTO "payloads" VALUES(269554751800163523,1,19044);
INSERT INTO "payloads" VALUES(339982736789688150,1,11362);
INSERT INTO "payloads" VALUES(543795178557286249,1,1362);
INSERT INTO "payloads" VALUES(569103356993017124,1,24092);
INSERT INTO "payloads" VALUES(693835890629471206,1,3023);
INSERT INTO "payloads" VALUES(744095562263308083,1,34280);
INSERT INTO "payloads" VALUES(814698920090417963,1,32290);
INSERT INTO "payloads" VALUES(888700476936129455,1,30509);
INSERT INTO "payloads" VALUES(1120717725249860295,1,37679);
CREATE TABLE segments (
  no INTEGER PRIMARY KEY,
  file TEXT NOT NULL UNIQUE,
  crawl INTEGER REFERENCES crawls(no),
  committed INTEGER NOT NULL,
  sealed INTEGER NOT NULL DEFAULT 0
);
INSERT INTO "segments" VALUES(1,'000001-20261118003502-07f0.warc.gz',1,39876,0);
INSERT INTO "segments" VALUES(2,'000002-20261118003504-dc5e.warc.gz',2,25375,0);
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
INSERT INTO "targets" VALUES(2,1,0,-6457734391795089773,'http://harbour-gazette.example/robots.txt','harbour-gazette.example','done',0,0.0,0,'P','http://harbour-gazette.example/',1,0,0,NULL);
INSERT INTO "targets" VALUES(3,1,0,3092884220101038912,'http://harbour-gazette.example/sitemap.xml','harbour-gazette.example','done',0,0.25,0,'M','http://harbour-gazette.example/robots.txt',1,0,0,NULL);
INSERT INTO "targets" VALUES(4,1,0,-431015244655245248,'http://harbour-gazette.example/favicon.svg','harbour-gazette.example','done',0,-0.5,0,'E','http://harbour-gazette.example/',1,0,0,NULL);
INSERT INTO "targets" VALUES(5,1,0,372442826499858700,'http://harbour-gazette.example/css/gazette.css','harbour-gazette.example','done',0,-0.5,0,'E','http://harbour-gazette.example/',1,0,0,NULL);
INSERT INTO "targets" VALUES(6,1,0,1548589066988624899,'http://harbour-gazette.example/js/gazette.js','harbour-gazette.example','done',0,-0.5,0,'E','http://harbour-gazette.example/',1,0,0,NULL);
INSERT INTO "targets" VALUES(7,1,0,4531740509888234932,'http://harbour-gazette.example/harbour/','harbour-gazette.example','done',0,1.0,1,'L','http://harbour-gazette.example/',1,0,0,NULL);
INSERT INTO "targets" VALUES(8,1,0,5810739651339336357,'http://harbour-gazette.example/img/plate-2.png','harbour-gazette.example','done',0,-0.5,0,'E','http://harbour-gazette.example/',1,0,0,NULL);
INSERT INTO "targets" VALUES(9,1,0,-3052881782921253898,'http://harbour-gazette.example/harbour/3-the-ferry-that-missed-lantern-hill','harbour-gazette.example','done',0,1.0,1,'L','http://harbour-gazette.example/',1,0,0,NULL);
INSERT INTO "targets" VALUES(10,1,0,-8332184550340918570,'http://harbour-gazette.example/img/plate-1.svg','harbour-gazette.example','done',0,-0.5,0,'E','http://harbour-gazette.example/',1,0,0,NULL);
INSERT INTO "targets" VALUES(11,1,0,-1031942903313063687,'http://harbour-gazette.example/harbour/4-quiet-weathervane-new-rules-for-lantern-hill','harbour-gazette.example','done',0,1.0,1,'L','http://harbour-gazette.example/',1,0,0,NULL);
INSERT INTO "targets" VALUES(12,1,0,3911901112817461493,'http://harbour-gazette.example/permalink/1','harbour-gazette.example','done',0,1.0,1,'L','http://harbour-gazette.example/',1,0,0,NULL);
INSERT INTO "targets" VALUES(13,1,0,7199622122178538622,'http://harbour-gazette.example/img/paper.svg','harbour-gazette.example','done',0,-0.5,0,'EE','http://harbour-gazette.example/css/gazette.css',1,0,0,NULL);
INSERT INTO "targets" VALUES(14,1,0,-4397016689448849264,'http://harbour-gazette.example/harbour/2-the-painted-parcel-of-the-ropewalk','harbour-gazette.example','done',0,1.0,1,'MM','http://harbour-gazette.example/sitemap.xml',1,0,0,NULL);
INSERT INTO "targets" VALUES(15,1,0,-8476916458172606927,'http://harbour-gazette.example/lost/404','harbour-gazette.example','done',0,2.0,2,'LL','http://harbour-gazette.example/harbour/',1,0,0,NULL);
INSERT INTO "targets" VALUES(16,1,0,-7554155755840852865,'http://harbour-gazette.example/desk/draft-1','harbour-gazette.example','left_out',0,2.0,2,'MML','http://harbour-gazette.example/harbour/2-the-painted-parcel-of-the-ropewalk',0,0,1,'robots.txt');
INSERT INTO "targets" VALUES(17,2,0,-8476916458172606927,'http://harbour-gazette.example/lost/404','harbour-gazette.example','done',0,0.0,2,'LL','http://harbour-gazette.example/harbour/',1,0,0,NULL);
INSERT INTO "targets" VALUES(18,2,0,372442826499858700,'http://harbour-gazette.example/css/gazette.css','harbour-gazette.example','done',0,0.0,0,'E','http://harbour-gazette.example/',1,0,0,NULL);
INSERT INTO "targets" VALUES(19,2,0,-431015244655245248,'http://harbour-gazette.example/favicon.svg','harbour-gazette.example','done',0,7.6923076923076927347e-02,0,'E','http://harbour-gazette.example/',1,0,0,NULL);
INSERT INTO "targets" VALUES(20,2,0,7199622122178538622,'http://harbour-gazette.example/img/paper.svg','harbour-gazette.example','done',0,1.53846153846153854694e-01,0,'EE','http://harbour-gazette.example/css/gazette.css',1,0,0,NULL);
INSERT INTO "targets" VALUES(21,2,0,-8332184550340918570,'http://harbour-gazette.example/img/plate-1.svg','harbour-gazette.example','done',0,2.30769230769230782041e-01,0,'E','http://harbour-gazette.example/',1,0,0,NULL);
INSERT INTO "targets" VALUES(22,2,0,5810739651339336357,'http://harbour-gazette.example/img/plate-2.png','harbour-gazette.example','done',0,3.07692307692307709388e-01,0,'E','http://harbour-gazette.example/',1,0,0,NULL);
INSERT INTO "targets" VALUES(23,2,0,1548589066988624899,'http://harbour-gazette.example/js/gazette.js','harbour-gazette.example','done',0,3.84615384615384636735e-01,0,'E','http://harbour-gazette.example/',1,0,0,NULL);
INSERT INTO "targets" VALUES(24,2,0,-1791517564443590857,'http://harbour-gazette.example/','harbour-gazette.example','done',0,4.61538461538461564082e-01,0,'',NULL,1,0,0,NULL);
INSERT INTO "targets" VALUES(25,2,0,-4397016689448849264,'http://harbour-gazette.example/harbour/2-the-painted-parcel-of-the-ropewalk','harbour-gazette.example','done',0,5.38461538461538435917e-01,1,'MM','http://harbour-gazette.example/sitemap.xml',1,0,0,NULL);
INSERT INTO "targets" VALUES(26,2,0,-3052881782921253898,'http://harbour-gazette.example/harbour/3-the-ferry-that-missed-lantern-hill','harbour-gazette.example','done',0,6.15384615384615418776e-01,1,'L','http://harbour-gazette.example/',1,0,0,NULL);
INSERT INTO "targets" VALUES(27,2,0,-1031942903313063687,'http://harbour-gazette.example/harbour/4-quiet-weathervane-new-rules-for-lantern-hill','harbour-gazette.example','done',0,6.92307692307692290611e-01,1,'L','http://harbour-gazette.example/',1,0,0,NULL);
INSERT INTO "targets" VALUES(28,2,0,3911901112817461493,'http://harbour-gazette.example/permalink/1','harbour-gazette.example','done',0,7.6923076923076927347e-01,1,'L','http://harbour-gazette.example/',1,0,0,NULL);
INSERT INTO "targets" VALUES(29,2,0,4531740509888234932,'http://harbour-gazette.example/harbour/','harbour-gazette.example','done',0,8.46153846153846145305e-01,1,'L','http://harbour-gazette.example/',1,0,0,NULL);
INSERT INTO "targets" VALUES(30,2,0,3092884220101038912,'http://harbour-gazette.example/sitemap.xml','harbour-gazette.example','done',0,9.23076923076923128164e-01,0,'M','http://harbour-gazette.example/robots.txt',1,0,0,NULL);
INSERT INTO "targets" VALUES(31,2,0,-6457734391795089773,'http://harbour-gazette.example/robots.txt','harbour-gazette.example','done',0,0.0,0,'P','http://harbour-gazette.example/lost/404',1,0,0,NULL);
INSERT INTO "targets" VALUES(32,2,0,-7554155755840852865,'http://harbour-gazette.example/desk/draft-1','harbour-gazette.example','left_out',0,4.8828125e-10,2,'MML','http://harbour-gazette.example/harbour/2-the-painted-parcel-of-the-ropewalk',0,0,1,'robots.txt');
INSERT INTO "targets" VALUES(33,2,1,-4397016689448849264,'http://harbour-gazette.example/harbour/2-the-painted-parcel-of-the-ropewalk','harbour-gazette.example','done',0,8.33333333333333287074e-02,1,'MM','http://harbour-gazette.example/sitemap.xml',1,0,0,NULL);
INSERT INTO "targets" VALUES(34,2,1,3911901112817461493,'http://harbour-gazette.example/permalink/1','harbour-gazette.example','queued',0,1.66666666666666657414e-01,1,'L','http://harbour-gazette.example/',0,0,0,NULL);
INSERT INTO "targets" VALUES(35,2,1,-1031942903313063687,'http://harbour-gazette.example/harbour/4-quiet-weathervane-new-rules-for-lantern-hill','harbour-gazette.example','queued',0,0.25,1,'L','http://harbour-gazette.example/',0,0,0,NULL);
INSERT INTO "targets" VALUES(36,2,1,-3052881782921253898,'http://harbour-gazette.example/harbour/3-the-ferry-that-missed-lantern-hill','harbour-gazette.example','queued',0,3.33333333333333314829e-01,1,'L','http://harbour-gazette.example/',0,0,0,NULL);
INSERT INTO "targets" VALUES(37,2,1,4531740509888234932,'http://harbour-gazette.example/harbour/','harbour-gazette.example','queued',0,4.1666666666666668517e-01,1,'L','http://harbour-gazette.example/',0,0,0,NULL);
INSERT INTO "targets" VALUES(38,2,1,7199622122178538622,'http://harbour-gazette.example/img/paper.svg','harbour-gazette.example','queued',0,0.5,0,'EE','http://harbour-gazette.example/css/gazette.css',0,0,0,NULL);
INSERT INTO "targets" VALUES(39,2,1,-8332184550340918570,'http://harbour-gazette.example/img/plate-1.svg','harbour-gazette.example','queued',0,5.8333333333333337034e-01,0,'E','http://harbour-gazette.example/',0,0,0,NULL);
INSERT INTO "targets" VALUES(40,2,1,5810739651339336357,'http://harbour-gazette.example/img/plate-2.png','harbour-gazette.example','queued',0,6.66666666666666629659e-01,0,'E','http://harbour-gazette.example/',0,0,0,NULL);
INSERT INTO "targets" VALUES(41,2,1,1548589066988624899,'http://harbour-gazette.example/js/gazette.js','harbour-gazette.example','queued',0,0.75,0,'E','http://harbour-gazette.example/',0,0,0,NULL);
INSERT INTO "targets" VALUES(42,2,1,372442826499858700,'http://harbour-gazette.example/css/gazette.css','harbour-gazette.example','queued',0,8.3333333333333337034e-01,0,'E','http://harbour-gazette.example/',0,0,0,NULL);
INSERT INTO "targets" VALUES(43,2,1,-431015244655245248,'http://harbour-gazette.example/favicon.svg','harbour-gazette.example','queued',0,9.16666666666666629659e-01,0,'E','http://harbour-gazette.example/',0,0,0,NULL);
INSERT INTO "targets" VALUES(44,2,1,-1791517564443590857,'http://harbour-gazette.example/','harbour-gazette.example','queued',0,1.0,0,'',NULL,0,0,0,NULL);
CREATE INDEX targets_queue ON targets (crawl, revisit, host, guess, priority, no)
  WHERE state = 'queued';
COMMIT;
PRAGMA user_version = 5;
