package command

import (
	"regexp"
	"slices"
	"strings"

	"github.com/svc-gateway/svc/scanner"
	"github.com/svc-gateway/svc/scanner/command/usage"
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
func (w *shell) judgeDatabase(name string, args call, r usage.Reading) (verdict, bool) {
	switch name {
	case "redis-cli", "valkey-cli", "keydb-cli":
		return judgeRedis(args, r), true
	case "mongosh", "mongo":
		return w.judgeMongo(args), true
	case "dropdb", "dropuser", "mysqladmin":
		if name != "mysqladmin" || slices.ContainsFunc(args, func(a arg) bool { return text.Lists("drop shutdown", a.text) }) {
			return verdict{class: Dangerous, category: Erase, reason: name + " drops what the database holds", write: scanner.DatabaseWrite}, true
		}
		return verdict{class: Unknown, reason: name + " manages the database", write: scanner.DatabaseWrite}, !args.has("--help") && slices.ContainsFunc(args, func(a arg) bool {
			return text.Lists("create kill flush-privileges flush-tables reload refresh password", a.text)
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
	v := verdict{class: ReadOnly}
	switch {
	case !r.Reads:
		if v = unknown(r.Reason); r.Reason == "" {
			v = unknown(name + " does more than run the statement")
		}
	case r.Has("-l", "--list") && name != "duckdb":
		return v, true
	default: // the grammar knows which words are statements
		statements = statements[:0]
		for _, value := range r.Values("-c", "--command", "-e", "--execute", "-q", "--query", "-Q", "-s") {
			statements = append(statements, arg{text: value.Text, dynamic: !value.Fixed})
		}
		if first := min(1, len(r.Operands())); client[0] == "" || name == "duckdb" {
			for _, i := range r.Operands()[first:] {
				statements = append(statements, args[i])
			}
		}
	}
	if w.in.known && len(statements) == 0 {
		statements = append(statements, arg{text: w.in.text})
	}
	if len(statements) == 0 {
		return worse(v, unknown(name+" runs statements that are not known")), true
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

// metaReads are commands of the clients that take the name of something to show, or nothing.
var metaReads = text.Words(`.tables .schema .databases .indexes .indices .help .show .dbinfo .stats .version .width .headers .mode .timer .fullschema .dump
	\d \dt \di \dv \ds \df \du \dn \dp \dT \dx \l \q \dg \dm \dd \db \dC \dD \dO \de \z \dt+ \d+ \l+ \di+ \dv+ \df+ \du+ \dn+ \dx+ \conninfo \dRp \dRs \drds`)

// metaWords are the words that may follow them: no line to run, no file, no other command.
var metaWords = regexp.MustCompile(`^[\w.*%"' +-]*$`)

// judgeMeta judges the commands of a client itself: .tables, \dt.
func judgeMeta(line string) verdict {
	verb, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
	if metaReads.HasString(verb) && metaWords.MatchString(rest) {
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
		case text.Lists(client[1], word):
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

// redisReads are commands of Redis that read, with those of their subcommands that do.
var redisReads = func() map[string]text.Set {
	table := make(map[string]text.Set)
	for _, name := range strings.Fields(`get mget keys scan info ping ttl pttl type exists hget hgetall hmget hlen hkeys hvals hexists hscan lrange llen lindex smembers sismember
		scard srandmember sscan sinter sunion sdiff zrange zrevrange zrangebyscore zcard zcount zscore zrank zscan strlen getrange bitcount dbsize time lastsave role echo
		xlen xrange xrevrange xread geopos geodist monitor expiretime dump`) {
		table[name] = nil
	}
	for name, verbs := range map[string]string{
		"config": "get", "memory": "usage stats doctor malloc-stats help", "slowlog": "get len help", "client": "list info getname id help", "object": "encoding freq idletime refcount help",
		"cluster": "info nodes slots shards myid keyslot countkeysinslot help", "latency": "latest history doctor help", "acl": "list whoami users cat getuser", "command": "count docs info list",
		"pubsub": "channels numsub numpat", "xinfo": "stream groups consumers", "module": "list", "function": "list stats",
	} {
		table[name] = text.Words(verbs)
	}
	return table
}()

// judgeRedis judges commands of Redis. Where the grammar of the client accounts for its options, the command
// is what its operands are.
func judgeRedis(args call, r usage.Reading) verdict {
	floor := verdict{class: ReadOnly}
	if r.Reads {
		rest := make(call, 0, len(args))
		for _, i := range r.Operands() {
			rest = append(rest, args[i])
		}
		if args = rest; len(rest) == 0 && r.Has("--stat", "--bigkeys", "--memkeys", "--hotkeys", "--scan", "--latency", "--latency-history") {
			return floor
		}
	} else {
		floor = unknown(r.Reason)
		if args.has("--eval", "--pipe", "x", "X", "--rdb") {
			return verdict{class: Unknown, reason: "commands of Redis are not known", write: scanner.DatabaseWrite}
		}
	}
	for i := 0; i < len(args); i++ {
		word := args[i].text
		if strings.HasPrefix(word, "-") {
			if text.Lists("-h -p -a -n -u -s -i -r -t -d --user --pass --cacert --cert --key --sni", word) {
				i++
			}
			continue
		}
		verb := strings.ToLower(word)
		reads, known := redisReads[verb]
		switch {
		case text.Lists("flushall flushdb del unlink shutdown debug failover swapdb rename migrate restore script", verb):
			return verdict{class: Dangerous, category: Erase, reason: "it deletes or moves keys", write: scanner.DatabaseWrite}
		case args[i].dynamic:
			return unknown("the command of Redis is only known at run time")
		case known && (reads == nil || i+1 < len(args) && reads.HasFoldString(args[i+1].text)):
			return floor
		case known:
			return worse(floor, unknown("it changes the settings of the database"))
		}
		return worse(floor, verdict{class: Mutate, reason: "it changes the database", write: scanner.DatabaseWrite})
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
