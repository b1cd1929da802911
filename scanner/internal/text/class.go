package text

// Class is a set of classes of bytes.
type Class uint32

// The classes. A package may add its own, from Further on, to what ClassOf says.
const (
	Blank   Class = 1 << iota // space, tab
	Space                     // white space, line ends included
	Digit                     // 0-9
	Letter                    // A-Z, a-z
	Further                   // the first one that is free
)

var classes = func() (t [256]Class) {
	for b := '0'; b <= '9'; b++ {
		t[b] = Digit
	}
	for b := 'a'; b <= 'z'; b++ {
		t[b], t[b-'a'+'A'] = Letter, Letter
	}
	for _, b := range " \t" {
		t[b] = Blank | Space
	}
	for _, b := range "\r\n" {
		t[b] = Space
	}
	return t
}()

// Is reports whether a byte is of one of the classes.
func Is(b byte, class Class) bool { return classes[b]&class != 0 }

// ClassOf returns all classes of a byte.
func ClassOf(b byte) Class { return classes[b] }
