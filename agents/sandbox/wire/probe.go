package wire

// Probe tells a program that tries to get out of a sandbox what is outside.
type Probe struct {
	Mode    Mode              `json:"mode"`
	Network Network           `json:"network"`
	Secret  string            `json:"secret"`  // a file in a hidden folder
	Env     string            `json:"env"`     // a variable of the service
	PID     int               `json:"pid"`     // a process of the host
	TCP     string            `json:"tcp"`     // addresses that something listens on
	UDP     string            `json:"udp"`     //
	Unix    []string          `json:"unix"`    // sockets, those that begin with @ abstract ones
	Spaces  map[string]string `json:"spaces"`  // the host's namespaces, as in /proc/PID/ns
	Limits  Limits            `json:"limits"`  // that should hold
	Scoped  bool              `json:"scoped"`  // Landlock restricts signals
	UserID  int               `json:"user_id"` // that the program should have
}

// Finding is what became of one attempt to get out.
type Finding struct {
	Attempt string `json:"attempt"`
	Held    bool   `json:"held"`
	Found   string `json:"found,omitempty"` // what was possible
}
