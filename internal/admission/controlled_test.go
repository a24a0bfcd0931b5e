// SPDX-License-Identifier: Apache-2.0

package admission

import (
	"testing"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

func TestMatchControlled(t *testing.T) {
	of := func(namespace, group, kind string) Controlled {
		return Controlled{namespace, schema.GroupKind{Group: group, Kind: kind}}
	}
	const before, after = "has(object.metadata.ownerReferences) && object.metadata.ownerReferences.exists(o, has(o.controller) && o.controller", " && (request.namespace + '/' + o.kind) in "
	all := []Controlled{of("shop", "apps", "ReplicaSet"), of("bank", "batch", "Job"), of("shop", "g.io", "CloneSet"), of("shop", "apps", "ReplicaSet"), of("shop", "", "")}
	for _, test := range []struct {
		name    string
		all     []Controlled
		leftOut string
		want    string
	}{
		{"none", nil, "g.io", "false"},
		{"those of a group left out", all[2:3], "g.io", "false"},
		{"all", all, "", before + after + "['bank/Job', 'shop/CloneSet', 'shop/ReplicaSet'])"},
		{"all but those of a group", all, "g.io", before + " && !o.apiVersion.startsWith('g.io/')" + after + "['bank/Job', 'shop/ReplicaSet'])"},
		{"what would end the text", []Controlled{of("my-shop", "apps", `Re'p"l\i]`)}, "", before + after + "['my-shop/Repli'])"},
	} {
		if got := MatchControlled(test.all, test.leftOut); got != test.want {
			t.Errorf("%s:\n%s, want\n%s", test.name, got, test.want)
		}
	}
}
