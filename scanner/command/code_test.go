package command

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/svc-gateway/svc/scanner"
)

func TestScanCode(t *testing.T) {
	text := "import requests as r\n# r.post(u)\nr.put(u, data=b)\ncur.execute(\"DROP TABLE t\")\n"
	put, drop := strings.Index(text, "r.put"), strings.Index(text, "cur.execute")
	want := []scanner.Finding{
		{Category: scanner.HTTPWrite, Rule: "http-put", Confidence: scanner.High, Start: put, End: put + len("r.put(u, data=b)"), Excerpt: "r.put(u, data=b)", View: scanner.ViewCode},
		{Category: scanner.DatabaseWrite, Rule: "db-sql", Confidence: scanner.High, Start: drop, End: len(text) - 1, Excerpt: "cur.execute(\"DROP TABLE t\")", View: scanner.ViewCode},
	}
	for _, lang := range []Language{Python, AnyLanguage} {
		if diff := cmp.Diff(want, ScanCode(text, lang)); diff != "" {
			t.Errorf("%q: -want +got\n%s", lang, diff)
		}
	}
}

func TestScanCodeFinds(t *testing.T) {
	for _, text := range []string{
		"requests.post.__call__(u)", "fetch.call(null, u, {method: 'PUT'})", "const method = 'POST'; fetch(u, {method})", "thing.post(u)", `cur.execute("PREPARE p AS DELETE FROM t")`,
		"import requests\ns = requests.Session()\ns.headers.update({\"a\": \"b\"})\ns.put(\"http://x\", data=1)",
		"import urllib.request as u\nreq = u.Request(\"http://x\", data=b\"1\", method=\"PUT\")\nu.urlopen(req)",
		"from urllib import request\nrequest.urlopen(\"http://x\", b\"data\")",
		"import http.client\nc = http.client.HTTPSConnection(\"x\")\nc.request(\"DELETE\", \"/x\")",
		"import httpx\nasync def f():\n    async with httpx.AsyncClient() as c:\n        await c.post(\"http://x\", json={})",
		"import aiohttp\nasync def main():\n  async with aiohttp.ClientSession() as sess:\n    await sess.request(\"POST\", u)",
		`getattr(__import__("requests"), "po" + "st")("http://x")`, "import requests\nf = getattr(requests, \"de\" \"lete\")\nf(u)",
		"import importlib\nimportlib.import_module(\"requests\").put(u)", "import requests\nfor m in [\"get\", \"post\"]:\n    getattr(requests, m)(u)",
		"import requests\nm = \"POST\"\nrequests.request(m, u)", `requests.request(method="PATCH", url=u)`,
		"import os\nos.system(\"curl -X POST https://x -d a=1\")", "import subprocess\nsubprocess.run(f\"curl -XDELETE {url}\", shell=True)",
		`subprocess.Popen(["wget", "--method=POST", u])`, "const axios = require(\"axios\");\naxios.delete(\"/x\");",
		`import {post as p} from "axios"; p(u, d)`, `await fetch(url, { method: 'DELETE' })`, `const opts = {method: "POST", body: x}; fetch(url, opts)`,
		`$.post("/x", data)`, `$.ajax({url: u, type: "POST"})`, `const xhr = new XMLHttpRequest(); xhr.open("PUT", u); xhr.send(b)`,
		`http.request({hostname: h, method: 'POST'}, cb)`, "const r = await got.post(`https://x/${id}`, {json: {}})", `import ky from 'ky'; await ky.put(u)`,
		`require('https').request(u, {method:'PUT'})`, "import sqlite3\ncon = sqlite3.connect(\"x.db\")\ncon.execute(\"DROP TABLE t\")",
		`cur.execute(f"UPDATE {t} SET a=1")`, `cur.executemany("INSERT INTO t VALUES (?)", rows)`, `df.to_sql("t", engine)`,
		"sql = \"DELETE FROM users\"\nconn.execute(text(sql))", "q = \"\"\"\nINSERT INTO t\nSELECT * FROM s\n\"\"\"\ndb.execute(q)",
		`duckdb.sql("CREATE TABLE t AS SELECT 1")`, "session.add(User(name=\"x\"))\nsession.commit()", `User.objects.filter(id=1).delete()`,
		`await prisma.user.create({data: {}})`, `db.users.insert_one({"a": 1})`, `knex('users').where({id: 1}).del()`,
		`await pool.query('UPDATE t SET a = $1', [1])`, "await sql`INSERT INTO t VALUES (${x})`", `redis.Redis().set("a", 1)`,
		"import redis\nr = redis.Redis()\nr.delete(\"x\")", `psql -c "DELETE FROM t"`, `sqlite3 a.db "INSERT INTO t VALUES (1)"`,
		`echo "DROP TABLE t" | mysql -u root db`, `duckdb a.db -c "UPDATE t SET a=1"`, `http POST https://x a=1`, `http https://x a=1`,
		`curl https://x --request DELETE`, `curl --json '{}' https://x`, `curl -T f https://x`, `INSERT INTO t VALUES (1)`,
		`UPDATE t SET a = 1 WHERE id = 2;`, `CREATE TABLE x (a int);`,
		"import base64\nexec(base64.b64decode(\"aW1wb3J0IHJlcXVlc3RzCnJlcXVlc3RzLnBvc3QoJ3gnKQ==\"))",
		"import socket\ns = socket.socket()\ns.send(b\"POST /x HTTP/1.1\\r\\n\")", "from requests import *\npost(u)",
		"import urllib3\nhttp = urllib3.PoolManager()\nhttp.request(\"POST\", u)", `eval("fetch(u, {method: 'POST'})")`,
		`new Function("fetch(u, {method: 'POST'})")()`, "import pandas as pd\npd.read_sql(\"DELETE FROM t RETURNING *\", con)",
		`engine.begin().execute(users.insert().values(a=1))`, "from sqlalchemy import insert\nconn.execute(insert(users).values(a=1))",
		`con.sql("PRAGMA journal_mode=WAL")`, `con.execute("ATTACH 'x.db' AS y")`, `con.execute("COPY (SELECT 1) TO 'x.csv'")`, `requests . post ( u )`,
		`(requests).post(u)`, `requests.Session().send(requests.Request("POST", u).prepare())`, `functools.partial(requests.post, u)()`,
		`pool.map(requests.post, urls)`, `client.send(client.build_request("POST", u))`, "with requests.Session() as s, open(\"x\") as f:\n    s.post(u)",
		"class A:\n    def __init__(self):\n        self.h = requests.Session()\n    def go(self):\n        self.h.delete(u)", `con.table("t").insert([1])`,
		`duckdb.connect("x").append("t", df)`, `mongo.db.coll.update_one({}, {})`, "import cloudscraper\ns = cloudscraper.create_scraper()\ns.post(u)", "import lmdb\nenv = lmdb.open(\"x\")\nwith env.begin(write=True) as txn:\n    txn.put(b\"a\", b\"b\")",
		"import postgres from \"postgres\"\nconst sql = postgres(u)\nawait sql`DELETE FROM t`", `cursor.copy_expert("COPY t FROM STDIN", f)`, `treq.post(u)`,
		`axios.post(u).then(r => console.log(r))`, `superagent.put(u).send({})`, `const { data } = await axios({ url: u, method: 'post' })`,
		`fetch(new Request(u, {method: "PUT"}))`, `Invoke-RestMethod -Uri $u -Method Post -Body $b`, `wget --post-file=x https://y`, `xh put https://x`,
		`curl -sS -d @data.json https://x/api`, `if True: requests.post(u)`, `x = [requests.post(u) for u in us]`, `lambda: requests.delete(u)`,
		`vars(requests)["post"](u)`, `requests.__dict__["post"](u)`, `globals()["requests"].post(u)`, `conn.cursor().execute("insert into t values (1)")`,
		`con.execute("insert" + " into t values (1)")`, `con.execute("%s INTO t VALUES (1)" % "INSERT")`, `con.execute("{} TABLE t".format("DROP"))`,
		`con.execute(" ".join(["DROP", "TABLE", "t"]))`, `db.run("INSERT INTO t VALUES (1)", cb)`, `db.exec("DELETE FROM t")`,
		`db.prepare("INSERT INTO t VALUES (?)").run(1)`, `client.query({text: "DELETE FROM t"})`, `HttpClient.PostAsync(u, c)`, `http.Post(url, "x", body)`,
		`req, _ := http.NewRequest(http.MethodPut, u, b)`, `db.Exec("DELETE FROM t WHERE id = ?", id)`, `Net::HTTP.post(uri, data)`, `r = requests.post`,
		`requests.delete(u)`, `s.post(url)`, `s.post(u)`, `c.put(u, json=x)`, `client.post(u)`, `http.post(u)`, `self.client.patch(url, data)`,
		`resp = await client.put(f"{base}/x")`, `urllib.request.urlopen(u, data=d)`, `urllib.request.urlopen(urllib.request.Request(u, method="DELETE"))`,
		`urlopen(Request(u, data))`, `req = urllib.request.Request(u, data)`, `req.get_method = lambda: "DELETE"`,
		`httplib2.Http().request(u, "POST", body=b)`, `h.request(u, "PUT")`, `x.open('POST', '/a')`, `let x = new XMLHttpRequest; x.open("DELETE", u, true)`,
		`axios.request({url, method: "PATCH"})`, `axios({ method: m, url: u })`, `axios.create({baseURL: b}).post("/x")`,
		`const api = axios.create({}); api.delete("/x")`, "fetch(`/api/${id}`, {\n  method: `PUT`,\n  body: JSON.stringify(x)\n})",
		`fetch(u, {body: x, method: ("PO" + "ST")})`, `window.fetch(u, {method: 'post'})`, `globalThis["fetch"](u, {method: 'post'})`, `http POST x.com/a`,
		`http PUT x.com b=1`, `http DELETE x.com/1`, `http x.com a=b`, `http -f x.com a@f`, `https x.com a:=1`, `curl -X "POST" u`, `curl -XPUT u`,
		`curl --request=PATCH u`, `curl -sX DELETE u`, `curl --upload-file f u`, `curl -d@f u`, `curl u -d 'a=1'`, `curl --data-urlencode a=1 u`,
		`wget --method DELETE u`, `wget --body-data=x --method=PUT u`, `wget --post-data "a" u`, `for i in 1 2; do curl -X POST u/$i; done`,
		`curl -X $METHOD u`, `M=POST; curl -X $M u`, `xargs -I{} curl -X DELETE u/{} < ids`, `sh -c 'curl -X POST u'`,
		`python3 -c "import requests; requests.post('u')"`, `node -e "fetch('u',{method:'POST'})"`, `cur.execute("ALTER TABLE t ADD c int")`,
		`cur.execute("VACUUM")`, `cur.execute("TRUNCATE t")`, `cur.execute("truncate table t")`, `cur.execute("REPLACE INTO t VALUES (1)")`,
		`cur.execute("insert or replace into t values (1)")`, `cur.execute("GRANT ALL ON t TO u")`, `cur.execute("-- x\nDELETE FROM t")`,
		`cur.execute("/* x */ delete from t")`, `cur.execute("SELECT 1; DROP TABLE t")`, `cur.execute("select * into t2 from t")`,
		`cur.execute("EXPLAIN ANALYZE DELETE FROM t")`, `cur.execute(sql="DELETE FROM t")`, `cur.execute(query)` + "\n" + `query = "DELETE FROM t"`,
		`con.query("CREATE VIEW v AS SELECT 1")`, `duckdb.execute("INSERT INTO t SELECT 1")`, `con.executemany("x", y)`, `engine.execute("drop table t")`,
		`conn.exec_driver_sql("DELETE FROM t")`, `session.execute(delete(User))`, `session.execute(update(User).where(User.id == 1).values(a=1))`,
		`session.delete(obj)`, `session.add_all(objs)`, `session.bulk_insert_mappings(U, m)`, `session.merge(x)`, `Base.metadata.create_all(engine)`,
		`Base.metadata.drop_all(engine)`, `User.objects.create(name="x")`, `User.objects.bulk_create(l)`, `User.objects.all().update(a=1)`,
		`df.to_sql(name="t", con=c, if_exists="replace")`, `pl_df.write_database("t", uri)`, `await db.execute(users.insert())`,
		`await database.execute(query=users.delete())`, `collection.insert_one({})`, `db["c"].delete_many({})`, `db.c.drop()`,
		`db.collection.insertMany([])`, `db.collection.remove({})`, `db.collection.update({}, {})`, `coll.replace_one({}, {})`,
		`es.index(index="x", document=d)`, `es.delete(index="x", id=1)`, `redis.set("a", 1)`, `await redis.del("a")`, `r.flushall()`, `r.hset("a", "b", 1)`,
		`table.put_item(Item={})`, `table.delete_item(Key={})`, `pg.query("DELETE FROM t")`, `db.none("INSERT INTO t VALUES ($1)", x)`,
		`await prisma.user.deleteMany()`, `await User.create({a: 1})`, `await User.destroy({where: {}})`, `await User.update({a: 1}, {where: {}})`,
		`await supabase.from("t").insert({})`, `await supabase.from("t").delete().eq("id", 1)`, `db.insert(users).values({})`, `await db.delete(users)`,
		`await mongoose.connection.dropDatabase()`, `User.deleteOne({})`, `db.serialize(() => { db.run("DELETE FROM t"); })`, `con.append("t", df)`,
		`con.begin(); con.execute("UPDATE t SET a=1"); con.commit()`, `sqlite3 x.db "DROP TABLE t;"`, `sqlite3 x.db <<EOF` + "\nDELETE FROM t;\nEOF",
		`mysql -e "INSERT INTO t VALUES (1)"`, `mysql -uroot -ppw db -e "DROP TABLE t"`, `psql "host=x" -c 'update t set a=1'`,
		`psql -U u -d d <<< "DELETE FROM t"`, `duckdb x.db "CREATE TABLE t(a int)"`, `mongosh --eval "db.t.drop()"`, `mongosh --eval 'db.t.insertOne({})'`,
		`redis-cli SET a 1`, `redis-cli -n 1 DEL a`, `bq query "DELETE FROM t WHERE 1=1"`, `DELETE FROM t`, `insert into t values (1)`, `drop table t`,
		`TRUNCATE TABLE t`, `MERGE INTO t USING s ON a=b WHEN MATCHED THEN UPDATE SET c=1`, `ALTER TABLE t DROP COLUMN c`, `CREATE INDEX i ON t (a)`,
		`GRANT SELECT ON t TO u`, `SELECT 1; DELETE FROM t`, `WITH x AS (DELETE FROM t RETURNING *) SELECT * FROM x`, `COPY t FROM 's3://x'`,
		`COPY t TO 'x.csv'`, `BEGIN; UPDATE t SET a=1; COMMIT;`, `ATTACH DATABASE 'x' AS y`, `CALL p()`, `PRAGMA user_version = 1`,
		`HttpRequest.newBuilder().uri(u).POST(BodyPublishers.ofString(x)).build()`, `new HttpPost(url)`, `Net::HTTP::Post.new(uri)`, `Faraday.post(u)`,
		`curl_setopt($ch, CURLOPT_POST, 1);`, `restTemplate.postForObject(u, r, X.class)`, `reqwest::Client::new().post(u).send()`,
		"client := &http.Client{}\nclient.Post(u, \"x\", b)", `http.PostForm(u, v)`, `Http::post($u, $d)`, `cur.callproc("p")`,
		`cur.copy("COPY t FROM STDIN")`, `conn.execute("SET GLOBAL x = 1")`, `session.request("put", u)`, `requests.request("post", u)`,
		`p = getattr(requests, "post"); p(u)`, "from requests import put as p\np(u)",
		"import requests, json\nrequests.post(\n    url,\n    json={\"a\": 1},\n)",
		"async def f(s):\n    async with s.delete(u) as r:\n        return await r.text()", `r = await aiohttp.request("POST", u)`,
		`asyncio.run(httpx.AsyncClient().post(u))`, `requests.session().delete(u)`, `subprocess.call("curl -X PUT " + url, shell=True)`,
		`os.popen("wget --post-data=x " + u).read()`, `subprocess.run("echo x | curl -d @- https://x", shell=True)`,
		`subprocess.run(["bash", "-c", "curl -d x u"])`, `os.execvp("curl", ["curl", "-X", "POST", u])`,
		"require('child_process').execSync(`curl -X POST ${u}`)", `execSync("curl -d a u")`, `spawn("curl", ["-X", "DELETE", u])`,
		`child_process.exec("curl --data x u")`, `exec("curl -X POST " + u)`, `subprocess.run("sqlite3 a.db 'DROP TABLE t'", shell=True)`,
		`os.system("psql -c 'DELETE FROM t'")`, `subprocess.run(["sqlite3", "a.db", "DELETE FROM t"])`, `!curl -X POST u`, `%sql DELETE FROM t`,
		"con.execute('''\n  insert into t\n  values (1)\n''')", "stmt = \"insert into t values (?)\"\nfor r in rows:\n    cur.execute(stmt, r)",
		"SQL = {\"a\": \"DELETE FROM t\"}\ncur.execute(SQL[\"a\"])", `cur.execute("DELETE" " FROM " + table)`, `cur.execute(f"DROP TABLE IF EXISTS {name}")`,
		`cur.execute("INSERT INTO %s VALUES (1)" % t)`, `cur.execute("insert into {} values (1)".format(t))`, `cur.execute("".join(["DROP ", "TABLE t"]))`,
		`cur.execute(base64.b64decode("RFJPUCBUQUJMRSB0").decode())`, `cur.execute(bytes.fromhex("44524f50205441424c452074").decode())`,
		`cur.execute("t ELBAT PORD"[::-1])`, `cur.execute("select 1;update t set a=1")`, `await conn.execute("UPDATE t SET a = 1 WHERE b = $1", x)`,
		`with con: con.execute("delete from t where a=?", (1,))`, `spark.sql("INSERT OVERWRITE TABLE t SELECT 1")`, `df.write.saveAsTable("t")`,
		`client.insert_rows_json(t, rows)`, `bq.query("DELETE FROM t WHERE true")`, `db.execute_sql("drop table t")`,
		`connection.cursor().executemany(sql, data)`, `cnx.cmd_query("DELETE FROM t")`, `tx.run("CREATE (n:A)")`, `session.run("MATCH (n) DETACH DELETE n")`,
		`pymongo.MongoClient().db.c.insert_one({})`, `client["db"]["c"].update_many({}, {})`, `sb.table("t").insert({}).execute()`,
		`sb.table("t").delete().eq("a", 1).execute()`,
	} {
		if found := ScanCode(text, AnyLanguage); len(found) == 0 {
			t.Errorf("ScanCode(%q) as %s: nothing found", text, DetectLanguage(text))
		}
	}
}

func TestScanCodeLeaves(t *testing.T) {
	for _, text := range []string{
		"# requests.post(u)\nx = 1", "// fetch(u, {method: \"POST\"})\nconst a = 1;", `/* axios.post(u) */ let b = 2;`,
		"\"\"\"requests.post(u)\"\"\"\nprint(\"DELETE FROM t\")", `q.put(1)`, `queue.Queue().put(x)`, "d = {}\nd.update(a=1)", "s = set()\ns.add(1)",
		"import urlfetch\nurlfetch.get(u)", "import lmdb\nlmdb.open(\"x\").begin().get(b\"a\")", "import postgres from \"postgres\"\nconst sql = postgres(u)\nawait sql`SELECT 1`",
		`os.remove("x")`, `mock.patch("requests.post")`, "@patch(\"requests.post\")\ndef test(): pass", `app.post("/x", (req, res) => res.send(1))`,
		"@app.post(\"/items\")\ndef create(): return 1", `router.delete("/x", handler)`, `map.delete("k")`, `new Map().delete(k)`, `cache.delete("k")`,
		`params.delete("x")`, `requests.get(u, params={"q": "delete"})`, `requests.head(u)`, `axios.get("/post")`, `fetch("/delete/1")`,
		`fetch(u, {headers: {a: "POST"}})`, `con.execute("SELECT * FROM t WHERE a = 'insert into'")`, `con.execute("select * from updates")`,
		`pd.read_sql("SELECT 1", con)`, `logging.info("INSERT INTO t failed")`, `print("requests.post(url)")`, `curl https://x`, `curl -G -d q=1 https://x`,
		`curl -X GET https://x`, `wget https://x -O -`, `http https://x q==1`, `http GET https://x`, `echo "curl -X POST https://x"`, `psql -c "SELECT 1"`,
		`sqlite3 a.db "SELECT * FROM t"`, `sqlite3 a.db .tables`, `SELECT * FROM t`, `EXPLAIN DELETE FROM t`, `WITH a AS (SELECT 1) SELECT * FROM a`,
		`SHOW TABLES`, `def post(self, x): return x`, `class Post: pass`, "post = 1\nput = 2", `blog.post`, `self.delete(key)`, `lst.insert(0, 1)`,
		`a.insert(1, 2)`, `re.sub("post", "", s)`, `subprocess.run(["ls", "-l"])`, `subprocess.run(["git", "commit", "-m", "DELETE FROM x"])`,
		`os.system("echo DELETE FROM t")`, `session.get(u)`, `session.query(User).all()`, `conn.commit()`,
		`cur.execute("SELECT replace(a, 'x', 'y') FROM t")`, `cur.execute("PRAGMA table_info(t)")`, `window.open("POST")`, `open("put", "w")`,
		`form.method = "post"`, `<form method="post">`, `x.set("a", 1)`, `obj.create()`, `canvas.toBlob(cb)`, `Object.create(null)`,
		`document.createElement("a")`, `arr.push(1); arr.splice(0, 1)`, `const fs = require('fs'); fs.readFileSync("delete.txt")`,
		`import axios from "axios"; axios.get(u)`, "client = docker.from_env()\nclient.containers.list()", `r.get("a")`, `df.update(other)`,
		`h.update(b"x")`, `hashlib.sha256().update(b"x")`, `counter.update([1])`, `tree.delete(node)`, `heap.delete(1)`, `text.insert("end", "x")`,
		`listbox.delete(0, "end")`, `requests.get("http://x/put?method=POST")`, "method = \"POST\" if x else \"GET\"\nprint(method)",
		`HTTP_METHODS = ["GET", "POST", "PUT"]`, `if request.method == "POST": pass`, `print(f"{requests.get(u).text} post")`,
	} {
		if found := ScanCode(text, AnyLanguage); len(found) > 0 {
			t.Errorf("ScanCode(%q) as %s: %+v", text, DetectLanguage(text), found)
		}
	}
}

// What cannot be read is a finding, and ends.
func TestScanCodeLimits(t *testing.T) {
	for name, tt := range map[string]struct {
		text string
		lang Language
		rule string
	}{
		"a long program": {strings.Repeat("#", maxCode+1), Python, "code-too-long"},
		"a long script":  {strings.Repeat("#", maxCommand+1), Shell, "code-too-long"},
		"tangled names":  {strings.Repeat("a = b or c or d or e or f\nb = a or c or d or e or f\nc = a or b or d or e or f\nd = a or b or c or e\ne = a or d or c\na(b)(c)(d)(e)\n", 1000), Python, "code-too-entangled"},
	} {
		found := ScanCode(tt.text, tt.lang)
		if len(found) != 1 || found[0].Rule != tt.rule {
			t.Errorf("%s: got %.200v, want %s", name, found, tt.rule)
		}
	}
	for _, bracket := range []string{"(", "[", "{", "a[", "f(", "$(", "`${", "f'{", "a.b.", "x or ", "PREPARE p AS ", "EXPLAIN ANALYZE "} {
		for _, lang := range []Language{Python, JavaScript, Shell, SQL, AnyLanguage} {
			ScanCode(strings.Repeat(bracket, 5000), lang) // it comes back
		}
	}
}

// What a request is given is no method.
func TestScanCodeMethods(t *testing.T) {
	for _, text := range []string{`requests.get("post")`, `fetch("delete")`, `axios.get("put")`, `requests.get(u, params={"method": "POST"})`, `client.get(u, type="post")`, `requests.request("GET", u)`, `requests.options(u)`, `urlopen(Request(u, headers={"a": "b"}))`, `https.request(u, {method: "GET"}, f)`} {
		if found := ScanCode(text, Python); len(found) > 0 {
			t.Errorf("ScanCode(%q): %+v", text, found)
		}
	}
}

func TestDetectLanguage(t *testing.T) {
	for text, want := range map[string]Language{
		"#!/usr/bin/env python3\nx": Python, "#!/bin/sh\nx": Shell, "#!/usr/bin/env node\nx": JavaScript, "select * from t": SQL,
		"def f(x):\n    return x": Python, "const a = () => 1;": JavaScript, "ls -l | wc -l": Shell, "x = 1": Python, "": Python,
	} {
		if got := DetectLanguage(text); got != want {
			t.Errorf("DetectLanguage(%q): got %s, want %s", text, got, want)
		}
	}
}

func FuzzScanCode(f *testing.F) {
	for _, s := range []string{
		"f'{x!r:>{w}}' + '''a", "`a${`b${c}`}`", "a.b[c](d=e, *f)[::-1]", "import a as b; from c import *", "import import", "import a as as", "from import as", "x = y = z; x, y = z", "%%sql\nselect 1",
		"/re/.test(x) ? a : b", "exec('exec(\"x\")')", "#!/bin/sh\ncurl -d x y", "insert into t",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		for _, lang := range []Language{AnyLanguage, Python, JavaScript, Shell, SQL} {
			for _, found := range ScanCode(text, lang) {
				if found.Start < 0 || found.Start > found.End || found.End > len(text) || found.Rule == "" || found.Category == "" {
					t.Fatalf("ScanCode(%q, %q): bad finding %+v", text, lang, found)
				}
			}
		}
		// Whatever follows does not hide what stands before.
		if len(ScanCode("requests.post(u)\n"+text, Python)) == 0 {
			t.Fatalf("ScanCode: a request is not found before %q", text)
		}
	})
}
