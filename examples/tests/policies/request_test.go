// SPDX-License-Identifier: Apache-2.0

package policies

import (
	"testing"

	"k8s.io/apiserver/pkg/authentication/user"

	"github.com/podwright/podwright/lifecycle"
)

func TestRequestsWithoutWebhooks(t *testing.T) {
	all, _ := lifecycle.PoliciesWithoutWebhooks()
	j := newJudge(t, all)
	const refused = "Forbidden: spec.containers: preStop, ports and statusContext are for a webhook to copy from the pod, and none is served: leave them out"
	for _, test := range []struct {
		name      string
		container map[string]any
		want      string
	}{
		{"the name", map[string]any{"name": "main"}, ""},
		{"preStop", map[string]any{"name": "main", "preStop": map[string]any{"exec": map[string]any{"command": []any{"id"}}}}, refused},
		{"an unknown hook", map[string]any{"name": "main", "preStop": map[string]any{}}, refused},
		{"ports", map[string]any{"name": "main", "ports": []any{map[string]any{"containerPort": int64(80)}}}, refused},
		{"statusContext", map[string]any{"name": "main", "statusContext": map[string]any{"containerID": "a://1"}}, refused},
	} {
		t.Run(test.name, func(t *testing.T) {
			object := recreateRequest("node-1", set([]any{map[string]any{"name": "side"}, test.container}, "spec", "containers"))
			j.check(t, request{resource: "containerrecreaterequests", kind: object.GroupVersionKind(), name: "restart", object: object, user: &user.DefaultInfo{Name: "tenant"}}, test.want)
		})
	}
	// It was created before the policy was, or by another way, and is worked on.
	filled := recreateRequest("node-1", set([]any{map[string]any{"name": "main", "ports": []any{}}}, "spec", "containers"))
	j.check(t, request{"containerrecreaterequests", "", filled.GroupVersionKind(), "restart", edited(filled, set("x", "metadata", "annotations", "a")), filled, &user.DefaultInfo{Name: "manager"}}, "")
}
