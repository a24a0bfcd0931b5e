// SPDX-License-Identifier: Apache-2.0

package app_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// applied is a kind in two versions, of which one program applies something in each.
type applied struct {
	resource, kind string
	// base is what the creator wants, alpha what one wants in v1alpha1, and beta what another one wants in v1beta1: YAML of the spec.
	base, alpha, beta string
	// alphaAt and betaAt are where that stands.
	alphaAt, betaAt []string
	want            [2]any // of both
}

// tag is one of a NodeImage that no controller takes away.
const tag = `[{tag: "1", createdAt: "2099-01-01T00:00:00Z", pullPolicy: {ttlSecondsAfterFinished: 60}}]`

// bothVersions are all kinds with two versions. Where v1beta1 alone has a field, beta is about that.
var bothVersions = []applied{
	{
		resource: "statefulsets", kind: "StatefulSet", alpha: "{template: {metadata: {annotations: {alpha: a}}}}", beta: "{reserveOrdinals: [3]}",
		base:    "{replicas: 0, serviceName: both, selector: {matchLabels: {app: both}}, template: {metadata: {labels: {app: both}}, spec: {containers: [{name: main, image: busybox}]}}}",
		alphaAt: []string{"template", "metadata", "annotations", "alpha"}, betaAt: []string{"reserveOrdinals"}, want: [2]any{"a", []any{int64(3)}},
	},
	{
		resource: "daemonsets", kind: "DaemonSet", alpha: "{template: {metadata: {annotations: {alpha: a}}}}", beta: "{scaleStrategy: {partitionedScaling: true}}",
		base:    "{selector: {matchLabels: {app: both}}, template: {metadata: {labels: {app: both}}, spec: {nodeSelector: {none: here}, containers: [{name: main, image: busybox}]}}}",
		alphaAt: []string{"template", "metadata", "annotations", "alpha"}, betaAt: []string{"scaleStrategy", "partitionedScaling"}, want: [2]any{"a", true},
	},
	{
		resource: "broadcastjobs", kind: "BroadcastJob", alpha: "{template: {metadata: {annotations: {alpha: a}}}}", beta: "{completionPolicy: {activeDeadlineSeconds: 77777}}",
		base:    "{paused: true, completionPolicy: {type: Always}, template: {spec: {nodeSelector: {none: here}, restartPolicy: Never, containers: [{name: main, image: busybox}]}}}",
		alphaAt: []string{"template", "metadata", "annotations", "alpha"}, betaAt: []string{"completionPolicy", "activeDeadlineSeconds"}, want: [2]any{"a", int64(77777)},
	},
	{
		resource: "advancedcronjobs", kind: "AdvancedCronJob", alpha: "{startingDeadlineSeconds: 7}", beta: "{timeZone: Europe/Berlin}",
		base:    `{schedule: "0 0 1 1 *", paused: true, template: {broadcastJobTemplate: {spec: {template: {spec: {restartPolicy: Never, containers: [{name: main, image: sweep}]}}}}}}`,
		alphaAt: []string{"startingDeadlineSeconds"}, betaAt: []string{"timeZone"}, want: [2]any{int64(7), "Europe/Berlin"},
	},
	{
		resource: "sidecarsets", kind: "SidecarSet", alpha: "{namespaceSelector: {matchLabels: {alpha: a}}}", beta: "{customVersion: b}",
		base:    "{selector: {matchLabels: {app: none-has-it}}, containers: [{name: log, image: busybox}]}",
		alphaAt: []string{"namespaceSelector", "matchLabels", "alpha"}, betaAt: []string{"customVersion"}, want: [2]any{"a", "b"},
	},
	{
		resource: "imagepulljobs", kind: "ImagePullJob", alpha: "{sandboxConfig: {labels: {alpha: a}}}", beta: "{sandboxConfig: {annotations: {beta: b}}}",
		base:    "{image: busybox, selector: {names: [none]}, completionPolicy: {type: Never}}",
		alphaAt: []string{"sandboxConfig", "labels", "alpha"}, betaAt: []string{"sandboxConfig", "annotations", "beta"}, want: [2]any{"a", "b"},
	},
	{
		resource: "imagelistpulljobs", kind: "ImageListPullJob", alpha: "{sandboxConfig: {labels: {alpha: a}}}", beta: "{sandboxConfig: {annotations: {beta: b}}}",
		base:    "{images: [busybox], selector: {names: [none]}, completionPolicy: {type: Never}}",
		alphaAt: []string{"sandboxConfig", "labels", "alpha"}, betaAt: []string{"sandboxConfig", "annotations", "beta"}, want: [2]any{"a", "b"},
	},
	{
		resource: "nodeimages", kind: "NodeImage", alpha: "{images: {alpha: {sandboxConfig: {labels: {alpha: a}}, tags: " + tag + "}}}",
		beta: "{images: {beta: {pullSecrets: [{namespace: n, name: s, mode: batch}], tags: " + tag + "}}}", base: "{images: {base: {tags: " + tag + "}}}",
		alphaAt: []string{"images", "alpha", "sandboxConfig", "labels", "alpha"}, betaAt: []string{"images", "beta", "pullSecrets"},
		want: [2]any{"a", []any{map[string]any{"namespace": "n", "name": "s", "mode": "batch"}}},
	},
}

// appliesEveryKind has one program apply something in v1alpha1, and another one in v1beta1, of every kind with both: neither loses what
// the other one wants, and what one wants no more goes. (PF-5.2)
func (w *fixture) appliesEveryKind() {
	w.Helper()
	for _, kind := range bothVersions {
		w.Run("server-side apply of "+kind.kind, func(t *testing.T) {
			f := *w
			f.T = t
			f.appliesBoth(kind)
		})
	}
}

func (w *fixture) appliesBoth(a applied) {
	w.Helper()
	apply := func(manager, version, spec string) {
		w.Helper()
		w.eventually(manager+" applies "+spec, func() error { // a controller may write in between
			object := w.object(fmt.Sprintf("{apiVersion: apps.kruise.io/%s, kind: %s, metadata: {name: both}, spec: %s}", version, a.kind, spec))
			_, err := w.in(version, a.resource).Apply(w.Context(), "both", object, metav1.ApplyOptions{FieldManager: manager, Force: true})
			return err
		})
	}
	expect := func(step string, alpha, beta any) {
		w.Helper()
		for _, version := range []string{"v1alpha1", "v1beta1"} {
			object := w.get(version, a.resource, "both").Object
			got, _, _ := unstructured.NestedFieldCopy(object, append([]string{"spec"}, a.alphaAt...)...)
			if diff := cmp.Diff(alpha, got); diff != "" {
				w.Errorf("PF-5.2: %s: in %s that of v1alpha1 (-want +got):\n%s", step, version, diff)
			}
		}
		got, _, _ := unstructured.NestedFieldCopy(w.get("v1beta1", a.resource, "both").Object, append([]string{"spec"}, a.betaAt...)...)
		if diff := cmp.Diff(beta, got); diff != "" {
			w.Errorf("PF-5.2: %s: that of v1beta1 (-want +got):\n%s", step, diff)
		}
	}
	apply("creator", "v1beta1", a.base)
	apply("beta", "v1beta1", a.beta)
	apply("alpha", "v1alpha1", a.alpha)
	expect("both apply", a.want[0], a.want[1])
	apply("beta", "v1beta1", a.beta)
	apply("alpha", "v1alpha1", a.alpha)
	expect("both apply again", a.want[0], a.want[1])
	apply("beta", "v1beta1", "{}")
	expect("what v1beta1 wanted goes", a.want[0], nil)
	apply("beta", "v1beta1", a.beta)
	apply("alpha", "v1alpha1", "{}")
	expect("what v1alpha1 wanted goes", nil, a.want[1])
}
