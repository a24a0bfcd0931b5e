package m

import "testing"

func Test(t *testing.T) {
	none()
	if most(1, 2) != 2 || most(3, 2) != 3 || count(nil) != 0 || count([]string{"a"}) != 1 || first([]string{"a", "b"}) != "a" || both("a", "b") != "ab" {
		t.Fatal()
	}
}
