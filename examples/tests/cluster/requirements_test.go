// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"runtime"
	"strings"
	"testing"
)

// A user who lacks something reads what it is and how to get it.
func TestMissing(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	got := (&MissingError{RealNodesMissing()}).Error()
	what := "busybox"
	if runtime.GOOS != "linux" {
		what = "Linux"
	}
	for _, want := range []string{"missing:", what} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is not in:\n%s", want, got)
		}
	}
}

// The networks of all numbers are apart from each other.
func TestNetworksAreApart(t *testing.T) {
	seen := map[string]string{}
	for number := range mostNetworks {
		n := &network{number: number}
		for i := range mostRealNodes + 1 {
			subnet := n.subnet(i).String()
			if other := seen[subnet]; other != "" {
				t.Errorf("%s is of %s and of %s", subnet, other, n.bridge())
			}
			seen[subnet] = n.bridge()
		}
	}
	if last := (&network{number: mostNetworks - 1}).podCIDR(mostRealNodes - 1); last != "198.19.255.0/24" {
		t.Errorf("the last subnet is %s, want 198.19.255.0/24", last)
	}
}
