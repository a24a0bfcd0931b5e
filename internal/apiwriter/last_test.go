// SPDX-License-Identifier: Apache-2.0

package apiwriter

import (
	"testing"

	"k8s.io/apimachinery/pkg/types"
)

func TestLast(t *testing.T) {
	var last Last[string]
	web, other := types.NamespacedName{Namespace: "default", Name: "web"}, types.NamespacedName{Namespace: "other", Name: "web"}
	if got := last.Get(web); got != "" {
		t.Errorf("it remembers %q of nothing", got)
	}
	last.Set(web, "1")
	last.Set(other, "2")
	last.Set(web, "3")
	if got := last.Get(web) + last.Get(other); got != "32" {
		t.Errorf("it remembers %q, want the last value of each", got)
	}
	last.Forget(web)
	if got := last.Get(web) + last.Get(other); got != "2" {
		t.Errorf("it remembers %q after one was forgotten", got)
	}
}
