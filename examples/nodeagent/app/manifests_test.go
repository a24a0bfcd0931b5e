// SPDX-License-Identifier: Apache-2.0

package app

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/yaml"
)

// The files are what "make generate" makes.
func TestGeneratedManifests(t *testing.T) {
	rbac, err := Manifest(NewConfig(onNode))
	if err != nil {
		t.Fatal(err)
	}
	policies, err := Policies()
	if err != nil {
		t.Fatal(err)
	}
	for file, want := range map[string][]byte{"nodeagent.yaml": rbac, "policies.yaml": policies} {
		got, err := os.ReadFile(filepath.Join("..", "rbac", file))
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got, want) {
			t.Errorf("%s is out of date, run make generate (-file +wanted):\n%s", file, cmp.Diff(string(got), string(want)))
		}
	}
}

// The DaemonSet runs an agent as which the RBAC rules are granted and the policies made.
func TestDaemonSet(t *testing.T) {
	data, err := os.ReadFile("../daemonset.yaml")
	if err != nil {
		t.Fatal(err)
	}
	daemon := &appsv1.DaemonSet{}
	if err := yaml.UnmarshalStrict(data, daemon); err != nil {
		t.Fatal(err)
	}
	pod := &daemon.Spec.Template.Spec
	if daemon.Namespace != Namespace || pod.ServiceAccountName != name {
		t.Errorf("it runs as %s/%s, want %s/%s", daemon.Namespace, pod.ServiceAccountName, Namespace, name)
	}
	c := &pod.Containers[0]
	config, err := parse(c.Args, func(variable string) string {
		if slices.ContainsFunc(c.Env, func(e corev1.EnvVar) bool {
			return e.Name == variable && e.ValueFrom != nil && e.ValueFrom.FieldRef.FieldPath == "spec.nodeName"
		}) {
			return "node-1"
		}
		return ""
	})
	if err != nil {
		t.Fatal(err)
	}
	health := c.ReadinessProbe.HTTPGet
	if got := health.Host + ":" + health.Port.String(); got != config.HealthAddr || !pod.HostNetwork {
		t.Errorf("probes ask %s, the agent answers at %s, in the network of the node: %v", got, config.HealthAddr, pod.HostNetwork)
	}
	mounts := map[string]corev1.VolumeSource{}
	for _, mount := range c.VolumeMounts {
		for _, volume := range pod.Volumes {
			if volume.Name == mount.Name && mount.ReadOnly {
				mounts[mount.MountPath] = volume.VolumeSource
			}
		}
	}
	folder := filepath.Dir(strings.TrimPrefix(config.Endpoint, "unix://"))
	if runtime := mounts[folder].HostPath; runtime == nil || runtime.Path != folder {
		t.Errorf("%s of the node is not mounted: %+v", folder, mounts)
	}
	const tokens = "/var/run/secrets/kubernetes.io/serviceaccount" // where client-go looks
	if token := mounts[tokens].Projected; token == nil || token.Sources[0].ServiceAccountToken == nil || token.Sources[0].ServiceAccountToken.Path != "token" {
		t.Errorf("no token of the pod in %s: %+v", tokens, mounts)
	}
	if s := c.SecurityContext; s.Privileged != nil || *s.AllowPrivilegeEscalation || !*s.ReadOnlyRootFilesystem || s.Capabilities.Drop[0] != "ALL" || len(s.Capabilities.Add) > 0 {
		t.Errorf("more than a socket of root's takes: %+v", s)
	}
}
