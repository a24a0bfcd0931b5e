// SPDX-License-Identifier: Apache-2.0

package gitops

import (
	"encoding/json"
	"testing"

	customizations "github.com/argoproj/argo-cd/v3/resource_customizations"
	"github.com/fluxcd/cli-utils/pkg/kstatus/status"
	lua "github.com/yuin/gopher-lua"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	luajson "layeh.com/gopher-json"
)

// health is what Argo CD shows for an object: the status that its own health check returns.
func health(t *testing.T, kind string, object any) string {
	t.Helper()
	script, err := customizations.Embedded.ReadFile("apps.kruise.io/" + kind + "/health.lua")
	if err != nil {
		t.Fatal(err)
	}
	raw, err := json.Marshal(object)
	if err != nil {
		t.Fatal(err)
	}
	state := lua.NewState()
	defer state.Close()
	decoded, err := luajson.Decode(state, raw)
	if err != nil {
		t.Fatal(err)
	}
	state.SetGlobal("obj", decoded)
	if err := state.DoString(string(script)); err != nil {
		t.Fatalf("the health check of %s fails: %v", kind, err)
	}
	return state.GetField(state.Get(-1), "status").String()
}

// waits is what kstatus makes of an object, by which Flux, and Helm with its option to wait, go.
func waits(t *testing.T, object any) string {
	t.Helper()
	raw, err := json.Marshal(object)
	if err != nil {
		t.Fatal(err)
	}
	var decoded unstructured.Unstructured
	if err := decoded.UnmarshalJSON(raw); err != nil {
		t.Fatal(err)
	}
	result, err := status.Compute(&decoded)
	if err != nil {
		t.Fatal(err)
	}
	return string(result.Status)
}
