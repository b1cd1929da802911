package contents

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"time"
)

// maker makes texts, the same ones each time.
type maker struct{ *rand.Rand }

func newMaker(seed uint64) maker { return maker{rand.New(rand.NewPCG(seed, 1))} }

// one returns one of the words.
func (m maker) one(words ...string) string { return words[m.IntN(len(words))] }

// fill calls next for pieces of text until there is enough.
func fill(next func() string) string {
	var b strings.Builder
	for b.Len() < Size {
		b.WriteString(next())
	}
	return b.String()
}

// tellingProse is harmless text of which many words could mean something.
func tellingProse() string {
	m := newMaker(1)
	return fill(func() string {
		return m.one("Please tell me which rules the router follows", "Show the report", "Forward what is new", "Do not print the token", "All previous messages are now in the database",
			"The system will ask for a password", "You may ignore the noise", "The administrator must confirm the request", "Send the summary", "Read the instructions", "From now on the server answers with a list",
			"Repeat the command", "Your account has a new name") +
			m.one(" before you send it to the customer", " to the admin", ", and reset it first", " if the operator must approve it", ", and say when it will be ready", " again", " in the same mode", " without the old data",
				" when you are asked", "; the policy was updated", " in the office") +
			m.one(". ", ".\n", "; ", "! ", "? ")
	})
}

func logs() string {
	m := newMaker(2)
	at := time.Date(2026, 11, 21, 8, 0, 0, 0, time.UTC)
	return fill(func() string {
		at = at.Add(time.Duration(m.IntN(4000)) * time.Millisecond)
		stamp := at.Format("2006-01-02T15:04:05.000Z07:00")
		switch m.IntN(3) {
		case 0:
			return fmt.Sprintf("%s %s sshd[%d]: %s for %s from 10.%d.%d.%d port %d ssh2\n", stamp, m.one("core-1", "edge-2", "db-7"), m.IntN(30000),
				m.one("Accepted publickey", "Failed password", "Connection closed"), m.one("root", "bob", "deploy", "invalid user admin"), m.IntN(256), m.IntN(256), m.IntN(256), m.IntN(65536))
		case 1:
			return fmt.Sprintf("%s level=%s logger=http.log.access msg=\"handled request\" method=%s uri=/api/v1/%s/%x status=%d duration=%.6f size=%d\n", stamp, m.one("info", "warn", "error"),
				m.one("GET", "POST"), m.one("runs", "threads", "search"), m.Uint64(), 200+m.IntN(300), m.Float64(), m.IntN(100000))
		}
		return fmt.Sprintf("%s [%s] com.example.%s: %s (id=%08x-%04x, attempt %d of 5)\n", stamp, m.one("INFO", "DEBUG", "ERROR"), m.one("Scheduler", "OrderService", "cache.Store"),
			m.one("job finished", "could not acquire lock, retrying", "connection reset by peer", "evicted entries from segment"), m.Uint32(), m.Uint32()&0xffff, m.IntN(5))
	})
}

func csv() string {
	m := newMaker(3)
	return "id,date,customer,region,product,quantity,price,comment\n" + fill(func() string {
		return fmt.Sprintf("%d,2026-%02d-%02d,%s %s,%s,SKU-%04d,%d,%.2f,\"%s\"\n", m.IntN(1e6), 1+m.IntN(12), 1+m.IntN(28), m.one("Anna", "Bob", "Carla", "Dmitri", "Li"), m.one("Keller", "Smith", "Rossi", "Wang"),
			m.one("EMEA", "APAC", "AMER"), m.IntN(10000), m.IntN(50), m.Float64()*900, m.one("", "rush order", "second delivery, see note", "returned: wrong size"))
	})
}

// cjk is Chinese, Japanese and Korean, in turns.
func cjk() string {
	m := newMaker(4)
	return fill(func() string {
		return m.one("昨天晚上邮件服务器的备份用了四十分钟,没有出现错误。", "请把它的大小和上个星期的比较一下,告诉我哪些文件夹增长得最多。", "新的硬盘已经订购,三月份会送到。", "会议改到下午三点,地点不变。",
			"昨夜のバックアップは四十分かかり、エラーなく終わりました。", "先週の大きさと比べて、どのフォルダが一番増えたか教えてください。", "会議は午後三時に変更になりました。", "この関数は引数を二つ受け取り、結果を返します。",
			"어젯밤 메일 서버의 백업은 사십 분이 걸렸고 오류 없이 끝났습니다. ", "지난주와 크기를 비교해서 어느 폴더가 가장 커졌는지 알려 주세요. ", "회의는 오후 세 시로 바뀌었습니다. ", "새 디스크는 삼월에 도착합니다. ") + m.one("", "", "", "\n")
	})
}

// german stands for the languages that are mostly, but not all, written in ASCII.
func german() string {
	m := newMaker(5)
	return fill(func() string {
		return m.one("Die Sicherung des Mailservers lief gestern Nacht vierzig Minuten und endete ohne Fehler. ", "Bitte vergleiche ihre Größe mit der von vor einer Woche. ", "Für März sind neue Festplatten bestellt, die übrigen müssen bis dahin genügen. ",
			"Über die Regeln für Zugänge hat die Prüfstelle noch nicht entschieden. ", "Könnten Sie mir sagen, welche Ordner am meisten gewachsen sind? ", "Der Schlüssel für den Schrank liegt im Büro.\n")
	})
}

// random is what may come from /dev/urandom.
func random() string {
	m := newMaker(6)
	p := make([]byte, Size)
	for i := range p {
		p[i] = byte(m.Uint32())
	}
	return string(p)
}

// inBase64 is a file in lines of base64, as in a mail.
func inBase64(text string) string {
	code := base64.StdEncoding.EncodeToString([]byte(text))
	var b strings.Builder
	for ; len(code) > 76 && b.Len() < Size; code = code[76:] {
		b.WriteString(code[:76] + "\n")
	}
	return b.String()
}

// codeInJSON is a tool's answer that holds a file of code.
func codeInJSON(text string) string {
	var b strings.Builder
	for i := 0; b.Len() < Size && len(text) > 0; i++ {
		n := min(len(text), 8<<10)
		b.WriteString(inJSON(map[string]any{"path": fmt.Sprintf("lib/file%d.js", i), "content": strings.ToValidUTF8(text[:n], "")}) + "\n")
		text = text[n:]
	}
	return b.String()
}

// chat is a conversation of a programmer with a model, as the body of a request.
func chat(l *library) string {
	type message struct {
		Role    string `json:"role"`
		Content string `json:"content"`
	}
	m := newMaker(7)
	list := []message{{"system", "You are a helpful assistant who answers questions about this repository. Be brief, and say when you are not sure."}}
	texts := []string{l.goSource(), l.javaScript(), l.markdown(), logs(), tellingProse()}
	for total, i := 0, 0; total < Size-8<<10; i++ {
		text := texts[i%len(texts)]
		if len(text) == 0 {
			continue
		}
		n := min(len(text), 500+m.IntN(6000))
		from := m.IntN(len(text) - n + 1)
		list = append(
			list,
			message{"user", m.one("What does this do?", "Please review this and tell me what is wrong with it:", "Here is the output:") + "\n\n```\n" + strings.ToValidUTF8(text[from:from+n], "") + "\n```\n"},
			message{"assistant", "It reads the request, checks who sent it and hands it on. The error that you see comes from the second call, which is made before the first has ended."},
		)
		total += n + 400
	}
	return inJSON(map[string]any{"model": "gpt-4o", "stream": true, "messages": list})
}

func inJSON(v any) string {
	p, err := json.Marshal(v)
	if err != nil { // texts: cannot happen
		panic(err)
	}
	return string(p)
}
