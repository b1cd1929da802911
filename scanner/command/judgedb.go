package command

import (
	"slices"
	"strings"

	"github.com/svc-gateway/svc/scanner"
	"github.com/svc-gateway/svc/scanner/internal/text"
)

// sqlClients run statements of SQL. The value lists the options that hold one; of the others
// that take a value those in the second list.
var sqlClients = map[string][2]string{
	"psql": {"c --command", "-d -h -p -U -v -f -o -P -F -R -T -L --dbname --host --port --username --file --set --variable --output"}, "mysql": {"e --execute", "-u -h -P -D -S"},
	"mariadb": {"e --execute", "-u -h -P -D -S"}, "sqlite3": {"", "-separator -nullvalue -newline -cmd -init"}, "sqlite": {"", ""}, "duckdb": {"c s -c -s", "-separator -nullvalue -newline -cmd -init"},
	"clickhouse-client": {"q --query", "-h -u -d --host --user --port --database --password"}, "sqlcmd": {"Q q", "-S -U -P -d"}, "bq": {"", ""},
	"cockroach": {"e --execute", ""}, "cqlsh": {"e --execute", "-u -p -k"}, "trino": {"--execute", ""}, "presto": {"--execute", ""}, "snowsql": {"q --query", "-a -u -d -s -w -r"},
	"usql": {"c --command", ""}, "ysqlsh": {"c --command", ""}, "vsql": {"c --command", ""}, "pgcli": {"", ""}, "mycli": {"e --execute", ""}, "litecli": {"e --execute", ""}, "sqlplus": {"", ""}, "isql": {"", ""}, "hive": {"e", ""},
	"beeline": {"e", "-u -n -p"}, "spark-sql": {"e", ""}, "influx": {"-execute --execute", ""}, "osqueryi": {"", ""}, "dolt": {"q --query", ""}, "tarantool": {"e", ""},
}

// databaseTools are the other programs that judgeDatabase knows.
var databaseTools = text.Words("redis-cli valkey-cli keydb-cli mongosh mongo dropdb dropuser mysqladmin createdb createuser pg_restore mysqlimport mongoimport mongorestore")

// judgeDatabase judges the clients of databases by the statements they are given. ok is false
// where the command is none.
func (w *shell) judgeDatabase(name string, args call) (verdict, bool) {
	switch name {
	case "redis-cli", "valkey-cli", "keydb-cli":
		return judgeRedis(args), true
	case "mongosh", "mongo":
		return w.judgeMongo(args), true
	case "dropdb", "dropuser", "mysqladmin":
		if name != "mysqladmin" || slices.ContainsFunc(args, func(a arg) bool { return text.Words("drop shutdown").HasString(a.text) }) {
			return verdict{class: Dangerous, category: Erase, reason: name + " drops what the database holds", write: scanner.DatabaseWrite}, true
		}
		return verdict{class: Unknown, reason: name + " manages the database", write: scanner.DatabaseWrite}, !args.has("--help") && slices.ContainsFunc(args, func(a arg) bool {
			return text.Words("create kill flush-privileges flush-tables reload refresh password").HasString(a.text)
		})
	case "createdb", "createuser", "pg_restore", "mysqlimport", "mongoimport", "mongorestore", "pg_resetwal", "reindexdb", "vacuumdb":
		v := verdict{class: Mutate, reason: name + " changes the database", write: scanner.DatabaseWrite}
		if args.has("--drop", "--clean") || name == "pg_resetwal" {
			v.class, v.category = Dangerous, Erase
		}
		return v, true
	}
	client, ok := sqlClients[name]
	if !ok {
		return verdict{}, false
	}
	statements := args.statements(client)
	if w.in.known && len(statements) == 0 {
		statements = append(statements, arg{text: w.in.text})
	}
	if len(statements) == 0 {
		return unknown(name + " runs statements that are not known"), true
	}
	v := verdict{class: ReadOnly}
	if args.has("f", "o", "L", "v", "--file", "--output", "--log-file", "--set", "--variable", "-cmd", "-init", "--pager", "--init-command", "--tee") {
		v = unknown(name + " does more than run the statement")
	}
	for _, s := range statements {
		text := strings.TrimSpace(strings.ReplaceAll(s.text, notYet, "x"))
		switch j, ok := judgeSQL(text, false); {
		case !ok && (strings.HasPrefix(text, ".") || strings.HasPrefix(text, `\`)):
			v = worse(v, judgeMeta(text))
		case !ok:
			v = worse(v, unknown(name+" runs a statement that is not known"))
		default:
			v = worse(v, j)
		}
		if s.dynamic {
			v = worse(v, unknown(name+" runs a statement that is only known at run time"))
		}
	}
	return v, true
}

// judgeMeta judges the commands of a client itself: .tables, \dt.
func judgeMeta(line string) verdict {
	verb, _, _ := strings.Cut(strings.TrimSpace(line), " ")
	if text.Words(`.tables .schema .databases .indexes .mode .headers .help .show .dbinfo .dump .fullschema .stats .timer .version .width`).HasString(verb) || strings.HasPrefix(verb, `\d`) || verb == `\l` || verb == `\q` {
		return verdict{class: ReadOnly}
	}
	return unknown(verb + " does more than read")
}

// statements returns the arguments that are statements: what stands behind one of the options,
// or, for clients that take a database first, what follows it.
func (c call) statements(client [2]string) (list []arg) {
	operands := 0
	for i := 0; i < len(c); i++ {
		word := c[i].text
		option := ""
		for _, o := range strings.Fields(client[0]) {
			switch {
			case strings.HasPrefix(o, "--") && strings.HasPrefix(word, o+"="):
				list = append(list, arg{text: word[len(o)+1:], dynamic: c[i].dynamic})
				option = "="
			case strings.HasPrefix(o, "-") && word == o, len(o) == 1 && word == "-"+o, len(o) == 1 && len(word) > 2 && word[0] == '-' && word[1] != '-' && strings.HasSuffix(word, o) && strings.Trim(word[1:], "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ") == "":
				option = o
			case len(o) == 1 && strings.HasPrefix(word, "-"+o) && len(word) > 2 && strings.ContainsAny(word, " "):
				list = append(list, arg{text: word[2:], dynamic: c[i].dynamic})
				option = "="
			}
		}
		switch {
		case option == "=":
		case option != "" && i+1 < len(c):
			i++
			list = append(list, c[i])
		case text.Words(client[1]).HasString(word):
			i++
		case strings.HasPrefix(word, "-"):
		default:
			if _, ok := judgeSQL(word, true); ok || client[0] == "" && operands > 0 {
				list = append(list, c[i])
			}
			operands++
		}
	}
	return list
}

// judgeRedis judges commands of Redis.
func judgeRedis(args call) verdict {
	if args.has("--eval", "--pipe", "x", "X", "--rdb") {
		return verdict{class: Unknown, reason: "commands of Redis are not known", write: scanner.DatabaseWrite}
	}
	for i := 0; i < len(args); i++ {
		word := args[i].text
		if strings.HasPrefix(word, "-") {
			if text.Words("-h -p -a -n -u -s --user --pass").HasString(word) {
				i++
			}
			continue
		}
		switch verb := strings.ToLower(word); {
		case text.Words("flushall flushdb del unlink shutdown debug failover swapdb rename migrate restore script").HasString(verb):
			return verdict{class: Dangerous, category: Erase, reason: "it deletes or moves keys", write: scanner.DatabaseWrite}
		case text.Words(`get mget keys scan info ping ttl type exists hget hgetall lrange smembers zrange llen dbsize time role memory slowlog client
			config strlen hkeys hvals scard zcard monitor lindex object`).HasString(verb):
			if verb == "config" && i+1 < len(args) && !strings.EqualFold(args[i+1].text, "get") {
				return unknown("it changes the settings of the database")
			}
			return verdict{class: ReadOnly}
		}
		return verdict{class: Mutate, reason: "it changes the database", write: scanner.DatabaseWrite}
	}
	return unknown("commands of Redis are not known")
}

// judgeMongo judges the scripts of MongoDB's shell.
func (w *shell) judgeMongo(args call) verdict {
	for i, a := range args {
		text, ok := strings.CutPrefix(a.text, "--eval=")
		if a.text == "--eval" && i+1 < len(args) {
			text, ok = args[i+1].text, true
		}
		if !ok {
			continue
		}
		v := unknown("a script is run")
		for _, e := range codeEffects(text, JavaScript, w.quoted+1) {
			v = worse(v, e.verdict)
		}
		for _, gone := range []string{"dropDatabase(", ".drop(", "deleteMany({})", "remove({})", "shutdownServer("} {
			if strings.Contains(text, gone) {
				return verdict{class: Dangerous, category: Erase, reason: "it deletes what the database holds", write: scanner.DatabaseWrite}
			}
		}
		return v
	}
	return unknown("a script is run that is not known")
}
