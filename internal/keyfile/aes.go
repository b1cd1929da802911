package keyfile

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"fmt"
)

// aesKey is the length of the key of AES-256, in bytes.
const aesKey = 32

// AES returns AES-256-GCM with the key in the file at path, which is made when there is none. Each
// message gets a random nonce, which is part of it. Without a path the key is a random one that is
// nowhere else, and is lost with the cipher. A file of another length is an error: what was encrypted
// with the right key must not be lost by accident.
func AES(path string) (cipher.AEAD, error) {
	key := randomKey()
	if path != "" {
		var err error
		if key, err = Read(path, func() ([]byte, error) { return key, nil }); err != nil {
			return nil, err
		}
	}
	if len(key) != aesKey {
		return nil, fmt.Errorf("%s has %d bytes, want %d: restore it, or remove it to have another made, which cannot decrypt what there is", path, len(key), aesKey)
	}
	block, err := aes.NewCipher(key)
	if err != nil {
		return nil, fmt.Errorf("reading the key file %s: %w", path, err)
	}
	return cipher.NewGCMWithRandomNonce(block)
}

func randomKey() []byte {
	key := make([]byte, aesKey)
	_, _ = rand.Read(key) // never fails: crypto/rand ends the process instead
	return key
}
