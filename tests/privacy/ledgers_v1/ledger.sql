BEGIN TRANSACTION;
CREATE TABLE cloister_ledger_accounts (
	"table" VARCHAR NOT NULL, 
	neighbours VARCHAR NOT NULL, 
	epsilon_total VARCHAR NOT NULL, 
	delta_total VARCHAR NOT NULL, 
	epsilon_spent VARCHAR NOT NULL, 
	delta_spent VARCHAR NOT NULL, 
	created VARCHAR NOT NULL, 
	unit VARCHAR NOT NULL, 
	releases INTEGER NOT NULL, 
	holder_uses INTEGER NOT NULL, 
	PRIMARY KEY ("table")
);
INSERT INTO "cloister_ledger_accounts" VALUES('students','add-remove','3','0.000001','4/3','0.0000001','2026-11-16T10:23:44+00:00','row',1,2);
INSERT INTO "cloister_ledger_accounts" VALUES('pupils','replace-one','0.5','0','0.25','0','2026-11-16T10:23:44+00:00','person (column "id", at most 3 rows)',0,0);
CREATE TABLE cloister_ledger_entries (
	id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, 
	"table" VARCHAR NOT NULL, 
	"when" VARCHAR NOT NULL, 
	kind VARCHAR NOT NULL, 
	purpose VARCHAR NOT NULL, 
	epsilon VARCHAR NOT NULL, 
	delta VARCHAR NOT NULL, 
	status VARCHAR NOT NULL, 
	release_hash VARCHAR NOT NULL, 
	FOREIGN KEY("table") REFERENCES cloister_ledger_accounts ("table")
);
INSERT INTO "cloister_ledger_entries" VALUES(1,'students','2026-11-16T10:23:44+00:00','charge','k-means, 3 clusters','1','0.0000001','released','abababababababababababababababababababababababababababababababab');
INSERT INTO "cloister_ledger_entries" VALUES(2,'students','2026-11-16T10:23:45+00:00','charge','killed before its release','1/3','0','charged','');
INSERT INTO "cloister_ledger_entries" VALUES(3,'students','2026-11-16T10:23:45+00:00','holder','k-anonymous table, k = 5','0','0','released','cdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcd');
INSERT INTO "cloister_ledger_entries" VALUES(4,'students','2026-11-16T10:23:45+00:00','holder','risk','0','0','released','');
INSERT INTO "cloister_ledger_entries" VALUES(5,'pupils','2026-11-16T10:23:45+00:00','charge','table by level','0.25','0','charged','');
CREATE TABLE cloister_ledger_meta (
	"key" VARCHAR NOT NULL, 
	value VARCHAR NOT NULL, 
	PRIMARY KEY ("key")
);
INSERT INTO "cloister_ledger_meta" VALUES('version','1');
CREATE INDEX ix_cloister_ledger_entries_table ON cloister_ledger_entries ("table");
DELETE FROM "sqlite_sequence";
INSERT INTO "sqlite_sequence" VALUES('cloister_ledger_entries',5);
COMMIT;
