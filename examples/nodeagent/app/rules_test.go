// SPDX-License-Identifier: Apache-2.0

package app

import (
	"slices"
	"testing"

	"github.com/podwright/podwright/examples/kit/permissions"
)

// IMG-3.11: an agent reads copies of pull secrets, and others only if it is told to.
func TestSecretsThatAreRead(t *testing.T) {
	for everywhere, want := range map[bool][]string{false: {"kruise-daemon-config"}, true: {"kruise-daemon-config", "kruise-system", "shop"}} {
		config := NewConfig(func(string) string { return "" })
		config.ReadSourceSecrets = everywhere
		parts, err := Permissions(config)
		if err != nil {
			t.Fatal(err)
		}
		var reads []string
		for _, namespace := range []string{"kruise-daemon-config", "kruise-system", "shop"} {
			if slices.ContainsFunc(parts, func(p permissions.Part) bool { return p.Allows("get", "", "secrets", namespace, "any") }) {
				reads = append(reads, namespace)
			}
			if slices.ContainsFunc(parts, func(p permissions.Part) bool {
				return p.Allows("list", "", "secrets", namespace, "") || p.Allows("watch", "", "secrets", namespace, "")
			}) {
				t.Errorf("ReadSourceSecrets %t: lists secrets in %s", everywhere, namespace)
			}
		}
		if !slices.Equal(reads, want) {
			t.Errorf("ReadSourceSecrets %t: reads secrets in %v, want %v", everywhere, reads, want)
		}
	}
}

// IMG-4: an agent that pulls nothing reads no secrets, and knows no NodeImages.
func TestNoPulls(t *testing.T) {
	config := NewConfig(func(string) string { return "" })
	config.PullImages = false
	parts, err := Permissions(config)
	if err != nil || slices.ContainsFunc(parts, func(p permissions.Part) bool {
		return p.Allows("get", "", "secrets", "kruise-daemon-config", "any") || p.Allows("watch", "apps.kruise.io", "nodeimages", "", "")
	}) {
		t.Errorf("error %v, rights %+v", err, parts)
	}
}

func TestFlagsOfPulls(t *testing.T) {
	for name, change := range map[string]func(*Config){
		"a namespace that is no pattern":   func(c *Config) { c.PullNamespaces = []string{"["} },
		"an empty registry":                func(c *Config) { c.PullRegistries = []string{""} },
		"plugins without their folder":     func(c *Config) { c.CredentialProviderConfig = "/etc/plugins.yaml" },
		"a folder of plugins, and no file": func(c *Config) { c.CredentialProviderBinDir = "/opt/plugins" },
	} {
		config := NewConfig(func(string) string { return "node" })
		if err := config.Validate(); err != nil {
			t.Fatal(err)
		}
		if change(&config); config.Validate() == nil {
			t.Errorf("%s is taken", name)
		}
	}
}
