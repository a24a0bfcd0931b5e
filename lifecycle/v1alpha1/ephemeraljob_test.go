// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	"encoding/json"
	"strings"
	"testing"
)

// EJ-V2: what is no list of containers makes its own job unreadable, and no other.
func TestUnreadableTemplates(t *testing.T) {
	const one = `{"spec":{"replicas":2,"template":{"ephemeralContainers":`
	for containers, readable := range map[string]bool{
		`[]`: true, `[{"name":"debug","image":"busybox","somethingNew":1}]`: true, `null`: true,
		`"x"`: false, `5`: false, `{}`: false, `[{"name":5}]`: false, `["x"]`: false, `[{"name":"debug","env":"x"}]`: false,
	} {
		var list EphemeralJobList
		if err := json.Unmarshal([]byte(`{"items":[`+one+containers+`}}},`+one+`[{"name":"debug"}]}}}]}`), &list); err != nil {
			t.Fatalf("%s: %v", containers, err)
		}
		bad, good := &list.Items[0].Spec, &list.Items[1].Spec
		if (bad.Template.Unreadable == "") != readable || *bad.Replicas != 2 || !readable && len(bad.Template.EphemeralContainers) > 0 {
			t.Errorf("%s is read as %+v", containers, bad)
		}
		if good.Template.Unreadable != "" || len(good.Template.EphemeralContainers) != 1 {
			t.Errorf("beside %s, a job is read as %+v", containers, good)
		}
	}
	data, err := json.Marshal(EphemeralContainerTemplateSpec{Unreadable: "why"})
	if err != nil || strings.Contains(string(data), "why") {
		t.Errorf("error %v, and it is sent: %s", err, data)
	}
}
