// Package skill reads skills: folders with an instruction for agents (SKILL.md), files that it refers to,
// and scripts that are tools.
//
//	store := skill.Store{Dir: home.Skills(), Pins: home.SkillPins(), Known: skill.Known{Tools: names, Agents: agents}}
//	set, err := store.Read()
//	bound := skill.Bind(set.Active(), named) // who has which
//
// A skill is used only while all its files are those whose hash an admin has approved: [Store.Add] and
// [Store.Approve] pin it. What was put there by hand, or has changed since, is listed with what has changed
// and is not used, and neither is one with a mistake: an unknown key, a missing script, an injection. All
// mistakes are told at once, each with the file, the line, the field and what to do.
//
// A [Skill] has its files in memory: what was hashed is what agents read and what is run, whatever becomes of
// the folder. Reading is bounded in files and bytes, and neither follows links nor takes what others than the
// service's user and root could have written. A Store keeps nothing, and its changes are for one goroutine
// at a time. A Set and a Skill do not change and may be used by many.
package skill
