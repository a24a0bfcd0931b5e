// SPDX-License-Identifier: Apache-2.0

package app

import (
	"bytes"
	"os"
	"testing"
)

// A manager without webhooks has a policy in their stead, which is what the file is that "make generate" makes.
func TestPolicies(t *testing.T) {
	config, err := NewConfig(func(string) string { return "" })
	if err != nil {
		t.Fatal(err)
	}
	if with, err := Policies(config); err != nil || len(with) > 0 {
		t.Errorf("with webhooks: %s, error %v", with, err)
	}
	config.Webhook.Enabled = false
	want, err := Policies(config)
	if err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile("../rbac/policies-without-webhooks.yaml")
	if err != nil || !bytes.Equal(got, want) {
		t.Errorf("the file is out of date, run make generate: error %v, %s\nwant %s", err, got, want)
	}
}
