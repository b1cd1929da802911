// Package roster reads the agents of a service. Each is a file AGENT.md: YAML front matter with the keys
// name, description, model, tools, skills, sub-agents and limits, and below it the instruction.
//
//	definitions, err := roster.Read(home.Agents(), roster.Known{Tools: names, Models: models})
//	setup.Agents = roster.Agents(definitions)
//
// Six agents are part of the program. A folder <name> with an AGENT.md in the folder of the operator adds
// an agent, or takes the place of the one with its name. All mistakes of all files are returned together,
// each a [Mistake] with the file, the line, the field and what to do; then there is no roster at all, so
// that whoever loads it keeps the one before or does not start. A file of the operator's is refused, too,
// when the scanner finds an injection in it with high confidence, or when somebody other than the
// service's user and root could have written it.
//
// An agent selects among the tools that the runtime has. What a call may do is for the gate to decide,
// whatever a file says. Nothing is kept, so the functions may be called by many goroutines.
package roster
