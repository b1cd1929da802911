package settings

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
)

// WriteToken stores the command line's token so that only its owner can read it. A crash
// leaves the old token or the new one.
func (h Home) WriteToken(token string) error {
	if err := h.writeSecret(h.Token(), token); err != nil {
		return fmt.Errorf("storing the token: %w", err)
	}
	return nil
}

// WriteSession is WriteToken for the token of a session, and notes that it is one. The note has the
// token's id: it says nothing about a token that took its place.
func (h Home) WriteSession(token string) error {
	if err := h.writeSecret(h.sessionNote(), tokenID(token)); err != nil {
		return fmt.Errorf("storing the token: %w", err)
	}
	return h.WriteToken(token)
}

// KeepToken copies the stored token to a file that no other token has, and returns its path. The
// token of a session can be had again: it is not kept, and the path is empty.
func (h Home) KeepToken() (path string, err error) {
	text, err := os.ReadFile(h.Token())
	if err != nil {
		return "", fmt.Errorf("keeping the stored token: %w", err)
	}
	token := string(bytes.TrimSpace(text))
	id := tokenID(token)
	if note, err := os.ReadFile(h.sessionNote()); err == nil && string(bytes.TrimSpace(note)) == id {
		return "", nil
	}
	path = h.Token() + "." + id
	if err := h.writeSecret(path, token); err != nil { // a copy: the file itself may have any mode
		return "", fmt.Errorf("keeping the stored token: %w", err)
	}
	return path, nil
}

// sessionNote is the file with the id of the last token that was a session's.
func (h Home) sessionNote() string { return h.path("token.session") }

// NoteServer notes which server a token is for, by its address, before the token is stored. The note has the
// token's id: it says nothing about a token that took its place. Without a server, the token is for the
// service of this data folder.
func (h Home) NoteServer(token, server string) error {
	var err error
	if server == "" {
		if err = os.Remove(h.serverNote()); errors.Is(err, fs.ErrNotExist) {
			err = nil
		}
	} else {
		err = h.writeSecret(h.serverNote(), tokenID(token)+" "+server)
	}
	if err != nil {
		return fmt.Errorf("noting which server the token is for: %w", err)
	}
	return nil
}

// TokenServer is the address of the server that a token is for; empty: the service of this data folder.
func (h Home) TokenServer(token string) (string, error) {
	note, err := os.ReadFile(h.serverNote())
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", fmt.Errorf("reading which server the token is for: %w", err)
	}
	id, server, _ := strings.Cut(string(bytes.TrimSpace(note)), " ")
	if id != tokenID(token) {
		return "", nil
	}
	return server, nil
}

// serverNote is the file with the id of the last token that was for another server, and that server.
func (h Home) serverNote() string { return h.path("token.server") }

func tokenID(token string) string {
	hash := sha256.Sum256([]byte(token))
	return hex.EncodeToString(hash[:6])
}

// writeSecret writes a line to a file of the data folder that only its owner can read, all of it or
// nothing.
func (h Home) writeSecret(path, line string) error {
	if err := os.MkdirAll(h.dir, 0o700); err != nil {
		return err
	}
	f, err := os.CreateTemp(h.dir, ".token-*") // CreateTemp makes it 0600
	if err != nil {
		return err
	}
	_, err = f.WriteString(line + "\n")
	err = errors.Join(err, f.Sync(), f.Close())
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		_ = os.Remove(f.Name())
	}
	return err
}
