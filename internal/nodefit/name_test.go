// SPDX-License-Identifier: Apache-2.0

package nodefit

import (
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func TestPodName(t *testing.T) {
	web := &metav1.ObjectMeta{Name: "web", UID: "1"}
	names := map[string]bool{}
	for _, name := range []string{PodName(web, "a", "", 0), PodName(web, "b", "", 0), PodName(web, "a", "", 1), PodName(web, "a", "1", 0), PodName(&metav1.ObjectMeta{Name: "web", UID: "2"}, "a", "", 0)} {
		if names[name] || !strings.HasPrefix(name, "web-") || len(name) != len("web-")+idLength {
			t.Errorf("the name %s", name)
		}
		names[name] = true
	}
	if again := PodName(web, "a", "", 0); !names[again] {
		t.Errorf("%s the second time", again)
	}
	if long := PodName(&metav1.ObjectMeta{Name: strings.Repeat("a", 253)}, "a", "", 0); len(long) != 63 {
		t.Errorf("%s has %d characters", long, len(long))
	}
}
