// SPDX-License-Identifier: Apache-2.0

package podwright

import "testing"

func TestReleaseSet(t *testing.T) {
	for text, want := range map[string]string{
		"1.4": "", "1.9": "", "": "want one of 1.4 1.9", "1.10": "want one of 1.4 1.9", "v1.4": "want one of 1.4 1.9",
	} {
		r := Release14
		err := r.Set(text)
		if got := errorText(err); got != want {
			t.Errorf("Set(%q) gives %q, want %q", text, got, want)
		}
		if err == nil && r.String() != text {
			t.Errorf("Set(%q) sets %q", text, r)
		}
		if err != nil && r != Release14 {
			t.Errorf("Set(%q) fails and changes the release to %q", text, r)
		}
	}
}

func errorText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}
