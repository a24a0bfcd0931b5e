// SPDX-License-Identifier: Apache-2.0

package persistentpodstate

import (
	"context"
	"errors"
	"testing"

	"github.com/podwright/podwright/distribution/client/fake"
	"github.com/podwright/podwright/distribution/podstate"
	"github.com/podwright/podwright/internal/testing/conformance"
)

// TestAdmission plays what the webhook says, in testdata/admission: see conformance.PlayAdmission. With list=games a white list has the kind of games,
// and list=broken cannot be read. With others=known there are PersistentPodStates of the StatefulSets taken and web.
func TestAdmission(t *testing.T) {
	others := fake.NewClient(newState("first", requires(host), targeting("apps/v1beta2", "StatefulSet", "taken")), newState("web", requires(host)),
		newState("db", requires(host), targeting("apps/v1", "StatefulSet", "taken")))
	lists := map[string]func(context.Context) (podstate.Whitelist, error){
		"games":  func(context.Context) (podstate.Whitelist, error) { return podstate.Whitelist{games}, nil },
		"broken": func(context.Context) (podstate.Whitelist, error) { return nil, errors.New("no answer") },
	}
	conformance.PlayAdmission(t, "testdata/admission", conformance.Admission{
		Kind: kind, Resource: "persistentpodstates",
		Object: `{metadata: {namespace: default, name: web}, spec: {targetRef: {apiVersion: apps.kruise.io/v1beta1, kind: StatefulSet, name: web},
			requiredPersistentTopology: {nodeTopologyKeys: [` + host + `]}}}`,
		New: func(args map[string][]string) conformance.Served {
			w := &Webhook{}
			if args["others"] != nil {
				w.Distribution = others
			}
			if list := args["list"]; list != nil {
				w.Whitelist = lists[list[0]]
			}
			return w
		}})
}
