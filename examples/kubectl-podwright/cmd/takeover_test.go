// SPDX-License-Identifier: Apache-2.0

package cmd

import (
	"errors"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/podwright/podwright/internal/testing/fakecluster"
)

// ofOpenKruise is the manager of a release.
const ofOpenKruise = `{apiVersion: apps/v1, kind: Deployment, metadata: {namespace: kruise-system, name: kruise}, spec: {selector: {}, template: {metadata: {}, spec: {containers: [{name: manager, image: "example.com/kruise-manager:v1.7.2"%s}]}}}}`

// The exit code says what there is to do. (KC-26)
func TestTakeoverCheck(t *testing.T) {
	c := newCluster(t)
	c.expect("There is no OpenKruise to take over: no CustomResourceDefinition and no program of OpenKruise is here.\n", "takeover", "check")

	c.create(strings.Replace(ofOpenKruise, "%s", "", 1))
	c.expect("OpenKruise 1.7, by the image of Deployment kruise-system/kruise.\nNothing stands in the way, and nothing is changed.\n", "takeover", "check")
	c.expect("error: --limit must be 1 or more, not 0\nexit code 1\n", "takeover", "check", "--limit=0")
	if said := c.run("takeover", "check", "--feature-gates=Other=true"); !strings.Contains(said, "unrecognized feature gate: Other") {
		t.Errorf("a gate that does not exist: %s", said)
	}

	c.create(`{apiVersion: apps.kruise.io/v1alpha1, kind: NodePodProbe, metadata: {name: node-1, finalizers: [apps.kruise.io/later]}, spec: {}}
---
{apiVersion: apps.kruise.io/v1alpha1, kind: BroadcastJob, metadata: {name: a, finalizers: [apps.kruise.io/later]}, spec: {}}`)
	if said := c.run("takeover", "check", "--namespaces=shop"); !strings.Contains(said, "needs an answer   NodePodProbe node-1") || strings.Contains(said, "BroadcastJob default/a") || !strings.HasSuffix(said, "exit code 2\n") {
		t.Errorf("in the namespace shop it says\n%s", said)
	}
	c.expect("error: --back-to must be one of 1.4, 1.5, 1.6, 1.7, 1.8, 1.9, not \"1.3\"\nexit code 1\n", "takeover", "check", "--back-to=1.3")
	c.expect("OpenKruise 1.9, to which the cluster is handed back.\nNothing stands in the way, and nothing is changed.\n", "takeover", "check", "--back-to=1.9")
	said := c.run("takeover", "check", "-o", "yaml")
	for _, want := range []string{"openKruise: \"1.7\"", "object: BroadcastJob default/a", "rule: KC-29", "severity: needs an answer", "exit code 2"} {
		if !strings.Contains(said, want) {
			t.Errorf("as data it lacks %q:\n%s", want, said)
		}
	}
}

// What cannot be read, or is too much, is said, and the rest is judged. It reads only. (KC-28)
func TestTakeoverCheckReads(t *testing.T) {
	c := newCluster(t)
	c.create(strings.Replace(ofOpenKruise, "%s", "", 1))
	for _, name := range []string{"a", "b", "c"} {
		c.create(`{apiVersion: v1, kind: Namespace, metadata: {name: ` + name + `}}`)
	}
	c.server.FailBefore(func(r fakecluster.Request) error {
		verb, resource, _ := strings.Cut(r.String(), " ")
		if r.User == "user" && verb != "get" && verb != "list" {
			t.Errorf("it sends %s", r.String())
		}
		if resource == "podprobemarkers" {
			return apierrors.NewForbidden(schema.GroupResource{Resource: resource}, "", errors.New("not yours"))
		}
		return nil
	})
	said := c.run("takeover", "check", "--limit=2")
	for _, want := range []string{"Could not be read: the PodProbeMarkers: podprobemarkers is forbidden: not yours", "Could not be read: more than 2 Namespaces: raise --limit, or name fewer --namespaces", "not all could be read\nexit code 1\n"} {
		if !strings.Contains(said, want) {
			t.Errorf("it lacks %q:\n%s", want, said)
		}
	}
}
