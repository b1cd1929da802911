package guardrail

import (
	"regexp"

	"github.com/svc-gateway/svc/agents/model"
)

// refusals are how models begin an answer that is none. An answer that goes on after one is still a refusal
// when it is short.
var refusals = regexp.MustCompile(`(?i)^(?:` +
	`(?:i(?:'|’)?m (?:very )?sorry|i am sorry|sorry|i apologi[sz]e|unfortunately)[,.]? (?:but )?(?:i|as an ai)\b[^.]{0,40}\b(?:can(?:'|’)?t|cannot|can not|won(?:'|’)?t|unable|not able)\b` +
	`|i (?:can(?:'|’)?t|cannot|can not|won(?:'|’)?t|am unable to|am not able to|must decline to) (?:help|assist|comply|do that|fulfil|fulfill|continue|provide|answer)` +
	`|i(?:'|’)m (?:unable|not able) to (?:help|assist|comply|provide|answer)` +
	`|as an ai(?: language)?(?: model)?,? i (?:can(?:'|’)?t|cannot|am unable)` +
	`|(?:es )?tut mir leid,? (?:aber )?(?:ich|dabei|das) [^.]{0,40}\bnicht\b` +
	`|(?:je suis )?désolée?,? (?:mais )?je ne (?:peux|suis)` +
	`|lo siento,? (?:pero )?no puedo` +
	`|mi dispiace,? (?:ma )?non posso` +
	`|desculpe,? (?:mas )?(?:eu )?não posso` +
	`|(?:извините|к сожалению)[^.]{0,20}я не могу` +
	`|(?:抱歉|对不起|很抱歉)[^。]{0,20}(?:不能|无法)` +
	`|申し訳(?:ありません|ございません)[^。]{0,30}(?:できません|ません)` +
	`|죄송(?:합니다|하지만)[^.]{0,30}(?:수 없|없습니다)` +
	`)`)

// refusalBytes bounds what is taken for a refusal by its words: a long answer that begins with an excuse
// answers something.
const refusalBytes = 600

// refusal says how an answer is one; empty: it is none.
func refusal(text string, stopped model.Stop) string {
	switch {
	case stopped == model.StopRefused:
		return "the model, or its server, refused to answer"
	case len(text) <= refusalBytes && refusals.MatchString(text):
		return "the answer reads like a refusal"
	}
	return ""
}
