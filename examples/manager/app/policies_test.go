// SPDX-License-Identifier: Apache-2.0

package app

import (
	"bytes"
	"os"
	"slices"
	"strings"
	"testing"
)

// The policies that protect from deletion are installed with the manager. Without webhooks one more policy is, in place of
// the webhooks. The files that "make generate" makes hold these policies.
func TestPolicies(t *testing.T) {
	for name, flags := range map[string][]string{"policies.yaml": nil, "policies-without-webhooks.yaml": {"--enable-webhooks=false"}} {
		want, err := Policies(mustParse(t, flags...))
		if err != nil {
			t.Fatal(err)
		}
		got, err := os.ReadFile("../rbac/" + name)
		if err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s is out of date, run make generate: error %v, %s\nwant %s", name, err, got, want)
		}
	}
}

func TestPoliciesOfDeletion(t *testing.T) {
	const workloads, label, requests = "podwright-deletion-protection-workloads", "podwright-deletion-protection-label", "podwright-containerrecreaterequests-without-webhooks"
	for _, test := range []struct {
		flags string
		want  []string
	}{
		{"", []string{workloads}},
		{"--enable-webhooks=false", []string{workloads, requests}},
		{"--deletion-protection-label-group=admins", []string{workloads, label}},
		{"--feature-gates=ResourcesDeletionProtection=false", nil},
		{"--feature-gates=PodWebhook=false", nil},
	} {
		got, err := Policies(mustParse(t, strings.Fields(test.flags)...))
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{workloads, label, requests} {
			if bytes.Contains(got, []byte("name: "+name+"\n")) != slices.Contains(test.want, name) {
				t.Errorf("%q: policy %s is printed: %t", test.flags, name, !slices.Contains(test.want, name))
			}
		}
	}
	if _, err := Policies(mustParse(t, "--deletion-protection-label-group=a'")); err == nil || !strings.Contains(err.Error(), "--deletion-protection-label-group") {
		t.Errorf("a group with a quote: error %v", err)
	}
}
