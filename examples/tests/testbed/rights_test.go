// SPDX-License-Identifier: Apache-2.0

package testbed

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	rbacv1 "k8s.io/api/rbac/v1"

	"github.com/podwright/podwright/examples/kit/permissions"
)

func TestJudge(t *testing.T) {
	parts := []permissions.Part{
		{Name: "a", Rules: []rbacv1.PolicyRule{permissions.Rule("list watch", "", "pods"), permissions.Rule("create patch", "g.io", "things/status")}},
		{Name: "b", Namespace: "own", Rules: []rbacv1.PolicyRule{permissions.Rule("get delete", "", "secrets", "certs")}},
	}
	const (
		watches = `"verb":"watch","userAgent":"prog/caches","requestURI":"/api/v1/pods?sendInitialEvents=true&watch=true","objectRef":{"resource":"pods"}`
		applies = `"verb":"patch","userAgent":"prog/a","objectRef":{"apiGroup":"g.io","resource":"things","subresource":"status","name":"x"},"responseStatus":{"code":201}`
		reads   = `"verb":"get","userAgent":"prog/%s","objectRef":{"resource":"secrets","name":"%s","namespace":"own"}`
		lists   = `"verb":"list","userAgent":"prog/caches","requestURI":"/api/v1/pods","objectRef":{"resource":"pods"}`
		asks    = `"verb":"get","userAgent":"prog","requestURI":"/version"`
		refused = `,"annotations":{"authorization.k8s.io/decision":"forbid"}`
	)
	certs := fmt.Sprintf(reads, "b", "certs")
	never := "no request has needed: b: delete secrets"
	cases := map[string]struct {
		requests []string
		reasons  map[string]string
		beyond   []string
		unused   []string
	}{
		"everything in order":       {[]string{watches, applies, certs, asks}, map[string]string{"b: delete secrets": "why"}, nil, nil},
		"a right without use":       {[]string{watches, applies, certs}, nil, nil, []string{never}},
		"a reason without right":    {[]string{watches, applies, certs}, map[string]string{"b: delete secrets": "why", "c: get x": "why"}, nil, []string{"a reason for what is no right: c: get x"}},
		"a right of another part":   {[]string{watches, applies, certs, fmt.Sprintf(reads, "a", "certs")}, nil, []string{"not among the rights of prog/a: get secrets"}, []string{never}},
		"an object without a right": {[]string{watches, applies, certs, fmt.Sprintf(reads, "b", "x")}, nil, []string{"not among the rights of prog/b: get secrets"}, []string{never}},
		"what was forbidden":        {[]string{watches, applies, certs + refused, asks}, nil, []string{"forbidden: get secrets by prog/b"}, []string{never}},
		"forbidden discovery":       {[]string{watches, applies, certs, asks + refused}, nil, []string{"forbidden: get /version by prog"}, []string{never}},
		"a list where it may watch": {[]string{watches, applies, certs, lists + refused}, nil, nil, []string{never}},
		"forbidden before it knew":  {[]string{watches, applies, certs + refused, certs}, nil, nil, []string{never}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			judge := NewJudge("prog", "user", parts)
			var log strings.Builder
			fmt.Fprintf(&log, `{"user":{"username":"another"},%s}`+"\n", fmt.Sprintf(reads, "a", "x"))
			for _, request := range c.requests {
				fmt.Fprintf(&log, `{"user":{"username":"user"},%s}`+"\n", request)
			}
			if err := judge.Read([]byte(log.String())); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.beyond, judge.Beyond()); diff != "" {
				t.Errorf("beyond (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(c.unused, judge.Unused(c.reasons)); diff != "" {
				t.Errorf("unused (-want +got):\n%s", diff)
			}
		})
	}
}
