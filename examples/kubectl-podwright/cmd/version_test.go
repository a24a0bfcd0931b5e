// SPDX-License-Identifier: Apache-2.0

package cmd

import (
	"fmt"
	"strings"
	"testing"

	"github.com/podwright/podwright/examples/process/version"
)

// led returns a cluster in which a manager of an image leads.
func led(t *testing.T, image string) *cluster {
	c := newCluster(t)
	c.create(`{apiVersion: coordination.k8s.io/v1, kind: Lease, metadata: {name: kruise-manager, namespace: kruise-system},
		spec: {holderIdentity: podwright-manager-7d9-x_0a1b, leaseDurationSeconds: 15, renewTime: "2026-03-01T11:59:58.000000Z"}}`)
	c.create(fmt.Sprintf(`{apiVersion: v1, kind: Pod, metadata: {name: podwright-manager-7d9-x, namespace: kruise-system},
		spec: {containers: [{name: proxy, image: "a.example/proxy:v9.9.9"}, {name: manager, image: %q}]}}`, image))
	return c
}

// It says what the plugin is, and what leads in the cluster. (KC-23)
func TestVersion(t *testing.T) {
	c := led(t, "a.example:5000/mirror/podwright-manager:v0.1.0@sha256:abc")
	got := c.run("version")
	for _, want := range []string{
		"Plugin: ", "\nKubernetes: v", "\nServed: apps.kruise.io/v1alpha1, policy.kruise.io/v1alpha1\n",
		"\nManager: v0.1.0, by the image a.example:5000/mirror/podwright-manager:v0.1.0@sha256:abc of pod kruise-system/podwright-manager-7d9-x\n",
		"\nCompatible: Unknown, the plugin is no release", // a test is none
	} {
		if !strings.Contains(got, want) {
			t.Errorf("it says\n%s\nwant %q", got, want)
		}
	}
	if got := c.run("version", "-o", "json"); !strings.Contains(got, `"version": "v0.1.0"`) || !strings.Contains(got, `"compatible": "Unknown"`) {
		t.Errorf("as data it is\n%s", got)
	}
	own, commit := version.Of()
	c.expect("Plugin: "+strings.TrimSpace(own+" "+commit)+"\n", "version", "--client")
}

// What is not there, or may not be read, is named, and the rest is told all the same. (KC-23)
func TestVersionOfLess(t *testing.T) {
	c := newCluster(t)
	if got := c.run("version"); !strings.Contains(got, "Compatible: Unknown, no manager is known to run\n") || strings.Contains(got, "Manager:") {
		t.Errorf("without a Lease it says\n%s", got)
	}
	c.create(`{apiVersion: coordination.k8s.io/v1, kind: Lease, metadata: {name: other, namespace: ops},
		spec: {holderIdentity: gone_0a1b, leaseDurationSeconds: 15, renewTime: "2026-03-01T11:59:58.000000Z"}}`)
	got := c.run("version", "--manager-lease=ops/other")
	if !strings.Contains(got, "Kubernetes: v") || !strings.Contains(got, "Could not be read:\nthe pod of \"gone_0a1b\", which holds the Lease ops/other: ") || !strings.Contains(got, "not found") {
		t.Errorf("without the pod it says\n%s", got)
	}
	c.create(`{apiVersion: coordination.k8s.io/v1, kind: Lease, metadata: {name: old, namespace: ops},
		spec: {holderIdentity: gone_0a1b, leaseDurationSeconds: 15, renewTime: "2026-03-01T11:00:00.000000Z"}}`)
	if got := c.run("version", "--manager-lease=ops/old"); !strings.Contains(got, "no manager is known to run\n") || strings.Contains(got, "Could not be read") {
		t.Errorf("with a Lease that has run out it says\n%s", got)
	}
}

// Plugin and manager go together if major and minor version are the same. (KC-23)
func TestCompatible(t *testing.T) {
	const image = "a.example/podwright-manager:"
	for _, test := range []struct{ plugin, image, served, want string }{
		{"v0.1.2", image + "v0.1.0", "x", "Yes, both are of v0.1"},
		{"v0.1.2", image + "v0.2.0", "x", "No, plan and explain say what v0.1 would do: use the plugin of v0.2"},
		{"v1.1.0", image + "v0.1.0", "x", "No, plan and explain say what v1.1 would do: use the plugin of v0.1"},
		{"v0.1.2", image + "latest", "x", "Unknown, the image " + image + "latest does not say of which release the manager is"},
		{"v0.1.2", "a.example/podwright-manager@sha256:ab", "x", "Unknown, the image a.example/podwright-manager@sha256:ab does not say of which release the manager is"},
		{"v0.1.2", "openkruise/kruise-manager:v1.4.0", "x", "Unknown, the image openkruise/kruise-manager:v1.4.0 is not that of podwright's manager: plan and explain say what podwright would do"},
		{"(devel)", image + "v0.1.0", "x", "Unknown, the plugin is no release, but (devel)"},
		{"v0.0.0-20261128101010-0123456789ab", image + "v0.1.0", "x", "Unknown, the plugin is no release, but v0.0.0-20261128101010-0123456789ab"},
		{"v0.1.2", "", "x", "Unknown, no manager is known to run"},
		{"v0.1.2", image + "v0.1.0", "", "No, the API server serves no kinds of podwright: the CRDs are not installed"},
	} {
		v := &versions{Plugin: built{Version: test.plugin}, Kubernetes: "v1.37.1", Served: strings.Fields(test.served)}
		if test.image != "" {
			v.Manager = &running{Version: tagged(test.image), Image: test.image}
		}
		if answer, reason := compatible(v); answer+", "+reason != test.want {
			t.Errorf("%s beside %s: %s, %s, want %s", test.plugin, test.image, answer, reason, test.want)
		}
	}
	if answer, _ := compatible(&versions{}); answer != "Unknown" {
		t.Errorf("without an API server: %s", answer)
	}
}
