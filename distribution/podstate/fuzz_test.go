// SPDX-License-Identifier: Apache-2.0

package podstate_test

import (
	"testing"

	"github.com/podwright/podwright/distribution/podstate"
	"github.com/podwright/podwright/distribution/v1alpha1"
)

// PPS-2: no text is a panic, and what is no list allows nothing more.
func FuzzReadWhitelist(f *testing.F) {
	for _, seed := range []string{"", "{}", `{"workloads":[{"Group":"g","Version":"v","Kind":"K"}]}`, `{"workloads":null}`, `[{}]`, `{"workloads":[null]}`} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		list, err := podstate.ReadWhitelist(map[string]string{v1alpha1.PersistentPodStateWhitelistKey: text})
		if err != nil && len(list) > 0 || !list.Allows(podstate.StatefulSets) || !list.Allows(podstate.AdvancedStatefulSets) {
			t.Errorf("%q gives %v, error %v", text, list, err)
		}
	})
}
