package identity

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"hash/crc32"
	"math/bits"
	"strings"
)

// The form of a token: prefix, 32 random bytes, checksum.
const (
	tokenPrefix = "svc_"
	bodyLen     = 43 // 62^43 > 2^256
	sumLen      = 6  // 62^6 > 2^32
	tokenLen    = len(tokenPrefix) + bodyLen + sumLen
)

const base62 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"

// Hash is the SHA-256 of a token, under which it is stored. Because what is looked up is a
// hash of what was sent, how long a look-up takes says nothing about stored tokens.
type Hash [sha256.Size]byte

// id is the public name of the token with this hash. It is cut from the hash, so that whoever
// finds a leaked token can tell which one to revoke.
func (h Hash) id() string { return hex.EncodeToString(h[:6]) }

// newToken makes a token from 256 random bits.
func newToken() (Secret, Hash) {
	var random [32]byte
	_, _ = rand.Read(random[:]) // never fails: crypto/rand ends the process instead
	return formatToken(random)
}

func formatToken(random [32]byte) (Secret, Hash) {
	b := make([]byte, tokenLen)
	copy(b, tokenPrefix)
	encode62(b[len(tokenPrefix):len(tokenPrefix)+bodyLen], random)
	putSum(b[tokenLen-sumLen:], crc32.ChecksumIEEE(b[:tokenLen-sumLen]))
	return Secret(b), sha256.Sum256(b)
}

// encode62 writes n, big-endian, as base62 digits that fill dst.
func encode62(dst []byte, n [32]byte) {
	var words [4]uint64
	for i, b := range n {
		words[i/8] = words[i/8]<<8 | uint64(b)
	}
	for i := len(dst) - 1; i >= 0; i-- {
		var rem uint64
		for w := range words {
			words[w], rem = bits.Div64(rem, words[w], 62)
		}
		dst[i] = base62[rem]
	}
}

func putSum(dst []byte, sum uint32) {
	for i := sumLen - 1; i >= 0; i-- {
		dst[i] = base62[sum%62]
		sum /= 62
	}
}

// IsToken reports whether s has the form of a token of this service; its checksum may still
// be wrong.
func IsToken(s string) bool {
	if len(s) != tokenLen || s[:len(tokenPrefix)] != tokenPrefix {
		return false
	}
	for i := len(tokenPrefix); i < len(s); i++ {
		if c := s[i]; (c < '0' || c > '9') && (c < 'A' || c > 'Z') && (c < 'a' || c > 'z') {
			return false
		}
	}
	return true
}

// hashToken returns the hash to look a token up by, or [ErrMalformed].
func hashToken(s string) (Hash, error) {
	if !IsToken(s) {
		return Hash{}, ErrMalformed
	}
	var b [tokenLen]byte
	copy(b[:], s)
	var sum [sumLen]byte
	putSum(sum[:], crc32.ChecksumIEEE(b[:tokenLen-sumLen]))
	if string(sum[:]) != string(b[tokenLen-sumLen:]) {
		return Hash{}, ErrMalformed
	}
	return sha256.Sum256(b[:]), nil
}

// claimsToBeToken reports whether s is meant to be a token of this service, however mangled.
func claimsToBeToken(s string) bool { return strings.HasPrefix(s, tokenPrefix) }
