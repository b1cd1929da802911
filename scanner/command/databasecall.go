package command

import (
	"strings"

	"github.com/svc-gateway/svc/scanner/internal/text"
)

var (
	// sqlRunners are methods and functions that run the SQL they are given.
	sqlRunners = text.Words(`execute executemany executescript exec_driver_sql sql query exec run raw prepare read_sql read_sql_query fetch
		fetchrow fetchval fetch_all fetch_one fetchall execute_async executeasync execsql executesql queryraw executeraw $executeraw
		$queryraw $executerawunsafe $queryrawunsafe all each get iterate none one any many oneornone manyornone result execute_batch
		execute_values executequery executeupdate preparestatement preparedstatement run_query run_sql runsql query_df command simple scalars scalar
		execute_sql executebatch queryrow querycontext execcontext mogrify sqltext from_query pl_read_database read_database mysql_query
		pg_query mysqli_query unsafe stream copy_expert copy db_query cmd_query dbquery select_all exec_query query_single with_sql
		postgres neon`)

	// databaseWrites are methods that no other kind of object has.
	databaseWrites = text.Words(`to_sql to_gbq write_database insert_one insert_many update_one update_many delete_one delete_many replace_one
		bulk_write drop_collection drop_database find_one_and_update find_one_and_delete find_one_and_replace insertone insertmany updateone
		updatemany deleteone deletemany replaceone bulkwrite findoneandupdate findoneanddelete findoneandreplace dropdatabase
		findbyidandupdate findbyidanddelete findbyidandremove bulk_create bulk_update bulkcreate bulk_save_objects bulk_insert_mappings
		bulk_update_mappings executescript executemany put_item delete_item update_item batch_write_item update_or_create get_or_create
		create_all drop_all insertgraph upsertgraph createmany upsertmany hset hmset lpush rpush sadd zadd setex setnx xadd zrem srem flushall flushdb dropcollection insert_df insert_dataframe
		insert_arrow copy_records_to_table copy_to_table insert_rows_json write_pandas drop_table create_table createcollection
		callproc saveastable insertinto insert_into copy_from load_table_from_dataframe`)

	// storeWrites are methods that write where the receiver leads to a database.
	storeWrites = text.Words(`insert update delete upsert create save add add_all merge set hset mset lpush rpush sadd zadd incr decr expire
		rename persist remove destroy drop truncate write index bulk append put del unlink setex setnx hdel hmset xadd publish insertorupdate
		createindex create_index reindex add_documents add_texts upsertmany findorcreate increment decrement savepoint create_collection delete_collection to_table`)

	// stores are modules and objects that are databases.
	stores = text.Words(`sqlite3 duckdb psycopg psycopg2 asyncpg sqlalchemy mysql pymysql redis aioredis ioredis pymongo motor mongodb mongoose
		mongo knex prisma sequelize typeorm supabase peewee tortoise pony objects elasticsearch opensearchpy opensearch cassandra influxdb
		clickhouse_connect clickhouse_driver clickhouse better-sqlite3 pg mysql2 neo4j boto3 firestore firebase_admin drizzle dataset tinydb
		sqlmodel databases chromadb pinecone weaviate qdrant_client kysely lancedb query_builder couchdb arango snowflake google
		lmdb plyvel rethinkdb surrealdb pymilvus pouchdb etcd3 pymemcache kazoo`)
)

// writesDatabase reports whether a call changes a database, and by which rule.
func writesDatabase(c codeCall) (rule string) {
	receiver, name := splitPath(c.path)
	fn := strings.ToLower(strings.TrimPrefix(name, unbound))
	fn = strings.TrimSuffix(fn, "()") // postgres(url) is what runs SQL
	if databaseWrites.HasFoldString(fn) && receiver != "" {
		return "db-" + fn
	}
	if receiver != "" && storeWrites.HasFoldString(fn) && storeOf(receiver, fn) {
		return "db-" + fn
	}
	if fn == "subscribe" || !sqlRunners.HasFoldString(fn) && !strings.Contains(fn, "sql") {
		return sqlBuilder(receiver, fn)
	}
	strict := !strings.Contains(fn, "exec") && !strings.Contains(fn, "sql") && !strings.Contains(fn, "query")
	args := c.args()
	if n := c.named("text", "sql", "query", "statement"); n != nil {
		args = append(args[:len(args):len(args)], n)
	}
	for _, a := range args {
		for _, text := range c.values.values(a) {
			if v, ok := judgeSQL(strings.ReplaceAll(text, notYet, "x"), strict); ok && v.write != "" {
				return "db-sql"
			}
			if fn == "run" && writesCypher(text) {
				return "db-cypher"
			}
		}
		if a.kind == nodeCall && strings.HasPrefix(fn, "exec") {
			for _, path := range c.values.paths(a) {
				for _, part := range strings.Split(path, ".") {
					if text.Lists("insert() update() delete() ?insert() ?update() ?delete()", part) {
						return "db-statement"
					}
				}
			}
		}
	}
	return ""
}

// sqlBuilder tells of insert(table) and its kind, which are run later.
func sqlBuilder(receiver, fn string) string {
	fn = strings.TrimPrefix(fn, unbound)
	if text.Lists("insert update delete", strings.ToLower(fn)) && strings.HasPrefix(receiver, "sqlalchemy") {
		return "db-" + fn
	}
	return ""
}

// storeOf reports whether a path leads to a database. Methods that other objects have too need
// more than a name.
func storeOf(receiver, fn string) bool {
	parts := components(receiver)
	if len(parts) == 0 || parts[0] == "" {
		return false
	}
	for i, p := range parts {
		if stores.HasFoldString(p) && (i == 0 || p == "objects" || p == "prisma" || p == "knex") {
			return true
		}
		if i > 0 && p == "query" && text.Lists("update delete", strings.ToLower(fn)) {
			return true // session.query(T).filter(…).delete()
		}
	}
	first := strings.TrimPrefix(receiver, unbound)
	if model := first != receiver && first != strings.ToLower(first) && !strings.ContainsAny(first, ".()"); model && text.Lists("create destroy update upsert bulkcreate findorcreate insert save", strings.ToLower(fn)) && !builtins.HasString(first) {
		return true // User.create({…}) of an object mapper
	}
	if text.Lists("db database collection coll es mongo", parts[0]) && text.Lists("insert update delete remove drop save upsert truncate index replace", strings.ToLower(fn)) {
		return true
	}
	switch fn {
	case "append":
		return parts[0] == "con" || parts[0] == "conn"
	case "insert", "upsert", "update", "delete":
		return strings.HasSuffix(receiver, "()") && text.Lists("from table collection into", strings.ToLower(parts[len(parts)-1]))
	case "add_all":
		return true
	case "add", "merge":
		last := parts[len(parts)-1]
		return last == "session" || strings.HasSuffix(last, "_session") || last == "dbsession"
	}
	return false
}

// builtins are objects whose methods have names like those of object mappers.
var builtins = text.Words("Object Array Map Set Reflect Promise Date URL Buffer Symbol Proxy Error Blob File Event Factory JSON Math Intl String Number Figure Image Path")

// writesCypher reports whether a text is a statement of Cypher that writes.
func writesCypher(text string) bool {
	upper := " " + strings.ToUpper(strings.Join(strings.Fields(text), " "))
	for _, clause := range []string{" CREATE (", " MERGE (", " DETACH DELETE ", " REMOVE ", " DELETE ", " SET "} {
		if i := strings.Index(upper, clause); i >= 0 && (clause != " SET " && clause != " DELETE " && clause != " REMOVE " || strings.Contains(upper[:i], "MATCH (")) {
			return true
		}
	}
	return false
}
