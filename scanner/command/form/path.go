package form

import (
	"strings"

	"github.com/svc-gateway/svc/scanner/internal/text"
)

var (
	// secretPlaces hold keys and passwords wherever they stand in a path, by the folder before them.
	secretPlaces = map[string][]string{
		"etc": {"shadow", "gshadow", "sudoers", "ssl/private", "krb5.keytab", "wireguard/"},
		"dev": {"mem", "kmem", "port"},
		"run": {"secrets"},
	}
	// secretFiles are names of files that do, secretFolders names within a folder.
	secretFiles = text.Words(`id_rsa id_dsa id_ecdsa id_ed25519 .netrc .pgpass .my.cnf .git-credentials .gnupg .npmrc .pypirc .vault-token .env .htpasswd
		terraform.tfstate .aws/credentials .kube/config .docker/config.json`)
	secretEnds   = text.Words("pem key p12 pfx jks kdbx keytab")
	secretStems  = text.Words("credentials secret secrets token")
	metadata     = []string{"169.254.169.254", "metadata.google.internal", "100.100.100.200"}
	publicNames  = text.Words("cert chain fullchain ca cacert")
	publicStarts = strings.Fields("ca cert chain fullchain server client tls")

	// foldings are the letters beyond ASCII that are one with a letter of ASCII in another case.
	foldings = strings.NewReplacer("ſ", "s", "\u212a", "k")
)

// Secret reports whether a word names a file that holds keys, passwords or tokens.
func Secret(word string) bool {
	path := strings.ToLower(foldings.Replace(word))
	folder, name := "", path
	if i := strings.LastIndexByte(path, '/'); i >= 0 {
		folder, name = path[:i], path[i+1:]
	}
	parent := folder[strings.LastIndexByte(folder, '/')+1:]
	stem, end := name, ""
	if i := strings.LastIndexByte(name, '.'); i >= 0 {
		stem, end = name[:i], name[i+1:]
	}
	switch {
	case secretFiles.HasString(name), parent != "" && secretFiles.HasString(parent+"/"+name), stem != "" && secretEnds.HasString(end):
		return true
	case len(name) < len(path) && (secretStems.HasString(name) || secretStems.HasString(stem) && isWord(end)):
		return true
	case stem == ".env" && isWord(end):
		return true
	case inSSH(folder, parent, name):
		return true
	}
	for _, m := range metadata {
		if strings.Contains(path, m) {
			return true
		}
	}
	return inSecretPlace(path)
}

// inSSH reports whether a file below .ssh is a key by its name.
func inSSH(folder, parent, name string) bool {
	if parent == ".ssh" && (strings.HasPrefix(name, "id_") || strings.HasPrefix(name, "identity") || strings.HasPrefix(name, "rsa") ||
		strings.Contains(name, "_id_") || strings.Contains(name, "_identity") || strings.Contains(name, "_rsa")) {
		return true
	}
	return strings.Contains(name, "key") && (strings.HasPrefix(folder+"/", ".ssh/") || strings.Contains(folder+"/", "/.ssh/"))
}

// inSecretPlace reports whether a path leads to one of the places that hold secrets.
func inSecretPlace(path string) bool {
	for i := range len(path) {
		if i > 0 && strings.IndexByte("/~=:", path[i-1]) < 0 || i+4 > len(path) {
			continue
		}
		head, rest, ok := path[i:i+3], path[i+4:], path[i+3] == '/'
		if ok {
			for _, place := range secretPlaces[head] {
				if strings.HasPrefix(rest, place) {
					return true
				}
			}
			continue
		}
		if rest, ok = strings.CutPrefix(path[i:], "proc/"); ok {
			if process, file, _ := strings.Cut(rest, "/"); strings.HasPrefix(rest, "kcore") || process != "" && (strings.HasPrefix(file, "environ") || strings.HasPrefix(file, "mem") || strings.HasPrefix(file, "maps")) {
				return true
			}
		}
	}
	return false
}

// Public reports whether a path names a key that everybody may know.
func Public(path string) bool {
	if strings.HasSuffix(path, ".pub") {
		return true
	}
	name, ok := strings.CutSuffix(path[strings.LastIndexByte(path, '/')+1:], ".pem")
	if !ok || publicNames.HasString(name) {
		return ok
	}
	for _, start := range publicStarts {
		if rest, ok := strings.CutPrefix(name, start); ok && strings.Contains(path, "/") && runEnd(rest, 0, ".-") == len(rest) {
			return true
		}
	}
	return false
}

// isWord reports whether a text is made of letters, digits and underscores.
func isWord(s string) bool {
	return s != "" && runEnd(s, 0, "") == len(s)
}
