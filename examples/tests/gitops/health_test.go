// SPDX-License-Identifier: Apache-2.0

package gitops

import (
	"encoding/json"
	"testing"

	customizations "github.com/argoproj/argo-cd/v3/resource_customizations"
	lua "github.com/yuin/gopher-lua"
	luajson "layeh.com/gopher-json"
)

// health is what Argo CD shows for an object: the status that its own health check returns.
func health(t *testing.T, kind string, object any) string {
	t.Helper()
	shown, err := tryHealth(t, kind, object)
	if err != nil {
		t.Fatalf("the health check of %s fails: %v", kind, err)
	}
	return shown
}

// tryHealth is health, or why the check fails.
func tryHealth(t *testing.T, kind string, object any) (string, error) {
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
		return "", err
	}
	return state.GetField(state.Get(-1), "status").String(), nil
}
