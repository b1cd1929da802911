// Package keyfile keeps keys in files of the data folder: made when they are first needed, mode
// 0600, complete or not there at all, also when two processes are first at the same time.
//
//	aead, err := keyfile.AES(path)         // to encrypt with
//	pem, err := keyfile.Read(path, newKey) // a key of another form
//
// The functions may be called by many goroutines.
package keyfile

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// Read returns what the file holds. When there is no file it is made with what fresh returns.
func Read(path string, fresh func() ([]byte, error)) ([]byte, error) {
	key, err := os.ReadFile(path)
	if !errors.Is(err, fs.ErrNotExist) {
		return key, err
	}
	if key, err = fresh(); err != nil {
		return nil, err
	}
	if err := write(path, key); err != nil {
		return nil, fmt.Errorf("making the key file: %w", err)
	}
	return os.ReadFile(path) // another process may have been first
}

// write puts a complete key at path, or leaves the one that is there.
func write(path string, key []byte) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	f, err := os.CreateTemp(filepath.Dir(path), ".key.*") // mode 0600
	if err != nil {
		return err
	}
	defer os.Remove(f.Name())
	_, err = f.Write(key)
	if err := errors.Join(err, f.Sync(), f.Close()); err != nil {
		return err
	}
	if err := os.Link(f.Name(), path); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return nil
}
