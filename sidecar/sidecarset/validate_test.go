// SPDX-License-Identifier: Apache-2.0

package sidecarset_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/yaml"

	"github.com/podwright/podwright/sidecar/injection"
	"github.com/podwright/podwright/sidecar/sidecarset"
	"github.com/podwright/podwright/sidecar/v1alpha1"
)

// setOf returns a SidecarSet that selects app=web and injects the container log, unless
// the spec says otherwise, which is YAML.
func setOf(t testing.TB, name, spec string) *v1alpha1.SidecarSet {
	t.Helper()
	set := &v1alpha1.SidecarSet{}
	if err := yaml.UnmarshalStrict([]byte("spec: "+spec), set); err != nil {
		t.Fatalf("%v\n%s", err, spec)
	}
	set.Name = name
	if set.Spec.Selector == nil {
		set.Spec.Selector = &metav1.LabelSelector{MatchLabels: map[string]string{"app": "web"}}
	}
	if set.Spec.Containers == nil {
		set.Spec.Containers = []v1alpha1.SidecarContainer{{Container: corev1.Container{Name: "log"}}}
	}
	return set
}

// check wants errors that begin so, one a line, in any order.
func check(t *testing.T, errs field.ErrorList, want string) {
	t.Helper()
	var got []string
	for _, err := range errs {
		got = append(got, err.Error())
	}
	slices.Sort(got)
	wants := slices.DeleteFunc(strings.Split(want, "\n"), func(s string) bool { return s == "" })
	slices.Sort(wants)
	for i := range min(len(got), len(wants)) {
		if strings.HasPrefix(got[i], wants[i]) {
			got[i] = wants[i]
		}
	}
	if diff := cmp.Diff(wants, got); diff != "" && len(wants)+len(got) > 0 {
		t.Errorf("errors (-want +got):\n%s", diff)
	}
}

func TestValidate(t *testing.T) {
	for _, test := range []struct{ spec, want string }{ // SCS-V1
		{"{}", ""},
		{"{containers: [], initContainers: [{name: i}]}", ""},
		{"{initContainers: [{name: i, upgradeStrategy: {upgradeType: HotUpgrade, hotUpgradeEmptyImage: e}}]}", ""}, // SCS-V20: it has no effect
		{"{initContainers: [{name: i, restartPolicy: Always, upgradeStrategy: {upgradeType: ColdUpgrade}}]}", ""},
		{"{initContainers: [{name: i, restartPolicy: Always, upgradeStrategy: {upgradeType: HotUpgrade, hotUpgradeEmptyImage: e}}]}", "spec.initContainers[0].upgradeStrategy.upgradeType: Forbidden: " +
			"a native sidecar is not upgraded hot: there would be two of it, and both would serve; use ColdUpgrade, or a regular container"},
		{"{containers: []}", "spec.containers: Required value: there is nothing to inject"},
		{"{selector: {}}", `spec.selector: Invalid value: "{}": must not be empty`},
		{"{selector: {matchExpressions: [{key: a, operator: Is}]}}", `spec.selector.matchExpressions[0].operator: Invalid value: "Is"`},
		{"{namespace: shop, namespaceSelector: {matchLabels: {a: b}}}", "spec.namespaceSelector: Forbidden: namespace and namespaceSelector exclude each other"},
		{"{namespaceSelector: {}}", `spec.namespaceSelector: Invalid value: "{}"`},
		{"{containers: [{name: log, volumeMounts: [{name: v, mountPath: /v}]}]}", `spec.containers[0].volumeMounts[0].name: Not found: "v"`},
		{"{initContainers: [{name: i, volumeMounts: [{name: v, mountPath: /v}]}], volumes: [{name: v}]}", ""},
		{"{initContainers: [{name: i, volumeMounts: [{name: v, mountPath: /v}]}]}", `spec.initContainers[0].volumeMounts[0].name: Not found: "v"`},
		{"{containers: [{name: log, podInjectPolicy: Behind, upgradeStrategy: {upgradeType: Warm}, shareVolumePolicy: {type: 'yes'}}]}",
			"spec.containers[0].podInjectPolicy: Unsupported value: \"Behind\"\nspec.containers[0].upgradeStrategy.upgradeType: Unsupported value: \"Warm\"\nspec.containers[0].shareVolumePolicy.type: Unsupported value: \"yes\""},
		{"{containers: [{name: log, transferEnv: [{sourceContainerNameFrom: {fieldRef: {fieldPath: \"metadata.annotations['example.com/a']\"}}}]}]}", ""},
		{"{containers: [{name: log, transferEnv: [{sourceContainerNameFrom: {fieldRef: {fieldPath: metadata.name, apiVersion: v2}}}]}]}",
			"spec.containers[0].transferEnv[0].sourceContainerNameFrom.fieldRef.apiVersion: Unsupported value: \"v2\"\nspec.containers[0].transferEnv[0].sourceContainerNameFrom.fieldRef.fieldPath: Invalid value: \"metadata.name\": must be metadata.labels['KEY']"},
		{"{containers: [{name: log, transferEnv: [{sourceContainerNameFrom: {fieldRef: {fieldPath: \"metadata.labels['a b']\"}}}]}]}",
			"spec.containers[0].transferEnv[0].sourceContainerNameFrom.fieldRef.fieldPath: Invalid value: \"metadata.labels['a b']\": name part must consist of"},
		{"{containers: [{name: mesh, upgradeStrategy: {upgradeType: HotUpgrade}}]}", "spec.containers[0].upgradeStrategy.hotUpgradeEmptyImage: Required value"},
		{"{containers: [{name: " + strings.Repeat("m", 62) + ", upgradeStrategy: {upgradeType: HotUpgrade, hotUpgradeEmptyImage: e}}]}",
			"spec.containers[0].name: Invalid value: \"" + strings.Repeat("m", 62) + "-1\"\nspec.containers[0].name: Invalid value: \"" + strings.Repeat("m", 62) + "-2\""},
		{"{containers: [{name: mesh, upgradeStrategy: {upgradeType: HotUpgrade, hotUpgradeEmptyImage: e}}, {name: mesh-1}], initContainers: [{name: mesh-2}]}",
			"spec.containers[1].name: Duplicate value: \"mesh-1\"\nspec.initContainers[0].name: Duplicate value: \"mesh-2\""},
		{`{patchPodMetadata: [{annotations: {a: '{"b": {"c": null}}'}, patchPolicy: MergePatchJson}, {annotations: {d: 'no JSON'}}]}`, ""},
		{`{patchPodMetadata: [{annotations: {a: 'no JSON', b: 'null', c: '{"x": {"y": [1]}}'}, patchPolicy: MergePatchJson}]}`,
			"spec.patchPodMetadata[0].annotations[a]: Invalid value: \"no JSON\": MergePatchJson merges JSON objects\nspec.patchPodMetadata[0].annotations[b]: Invalid value: \"null\"\n" +
				"spec.patchPodMetadata[0].annotations[c]: Invalid value: \"{\\\"x\\\": {\\\"y\\\": [1]}}\": MergePatchJson would replace an array"},
		{"{updateStrategy: {type: Sometimes}}", `spec.updateStrategy.type: Unsupported value: "Sometimes"`},
		{"{updateStrategy: {selector: {}, partition: -1, maxUnavailable: much}}",
			"spec.updateStrategy.maxUnavailable: Invalid value: \"much\": must be a number\nspec.updateStrategy.partition: Invalid value: -1: must not be negative\nspec.updateStrategy.selector: Invalid value: \"{}\""},
		{"{updateStrategy: {type: NotUpdate, selector: {}, partition: -1, maxUnavailable: much}}", ""},
		{"{updateStrategy: {partition: 10%, maxUnavailable: 0}}", ""},
		{"{updateStrategy: {maxUnavailable: '3'}}", `spec.updateStrategy.maxUnavailable: Invalid value: "3"`},
		{"{updateStrategy: {scatterStrategy: [{key: a, value: '*'}, {key: '', value: b}, {key: a, value: '*'}]}}",
			"spec.updateStrategy.scatterStrategy[1].key: Required value\nspec.updateStrategy.scatterStrategy[2]: Duplicate value"},
		{"{updateStrategy: {priorityStrategy: {orderPriority: [{orderedKey: a}], weightPriority: []}}}", ""},
		{"{updateStrategy: {priorityStrategy: {orderPriority: [{orderedKey: ''}], weightPriority: [{weight: 101, matchSelector: {}}]}}}",
			"spec.updateStrategy.priorityStrategy.orderPriority[0].orderedKey: Required value\nspec.updateStrategy.priorityStrategy.weightPriority[0].matchSelector: Required value\n" +
				"spec.updateStrategy.priorityStrategy.weightPriority[0].weight: Invalid value: 101: must be between 0 and 100\nspec.updateStrategy.priorityStrategy: Forbidden"},
		{"{updateStrategy: {type: NotUpdate, priorityStrategy: {orderPriority: [{orderedKey: ''}]}}}", ""},
		{"{injectionStrategy: {revision: {policy: Sometimes}}}",
			"spec.injectionStrategy.revision.policy: Unsupported value: \"Sometimes\"\nspec.injectionStrategy.revision.revisionName: Required value"},
		{"{injectionStrategy: {revision: {customVersion: v1, policy: Partial}}}", ""},
		{"{injectionStrategy: {revision: {customVersion: v1}}}", ""},
		{"{patchPodMetadata: [{annotations: {a: b, 'c d': e}, patchPolicy: Add}, {}, {annotations: {a: c}}]}",
			"spec.patchPodMetadata[0].annotations: Invalid value: \"c d\"\nspec.patchPodMetadata[0].patchPolicy: Unsupported value: \"Add\"\nspec.patchPodMetadata[1].annotations: Required value\nspec.patchPodMetadata[2].annotations[a]: Duplicate value: \"a\""},
	} {
		t.Run(test.spec, func(t *testing.T) {
			set := setOf(t, "demo", test.spec)
			check(t, sidecarset.ValidateCreate(set), test.want)
			if test.want == "" {
				injection.Default(set)
				check(t, sidecarset.ValidateCreate(set), "")
			}
		})
	}
	for name, want := range map[string]string{"": "", "Log-1": "", "log.agent": "metadata.name: Invalid value", strings.Repeat("a", 64): "metadata.name: Invalid value"} {
		check(t, sidecarset.ValidateCreate(setOf(t, name, "{}")), want)
	}
	without := setOf(t, "demo", "{}")
	without.Spec.Selector = nil
	check(t, sidecarset.ValidateCreate(without), "spec.selector: Required value")
}

func TestValidateUpdate(t *testing.T) {
	const old = "{initContainers: [{name: i}], containers: [{name: a, upgradeStrategy: {upgradeType: HotUpgrade, hotUpgradeEmptyImage: e}}, {name: b}]}"
	for _, test := range []struct{ spec, want string }{ // SCS-V2
		{old, ""},
		{"{containers: [{name: b, image: new, upgradeStrategy: {upgradeType: HotUpgrade, hotUpgradeEmptyImage: e}}], initContainers: [{name: j}]}", ""},
		{"{containers: [{name: a, upgradeStrategy: {upgradeType: ColdUpgrade}}, {name: c}]}",
			"spec.containers[0].upgradeStrategy.upgradeType: Invalid value: \"ColdUpgrade\": container a upgradeType is immutable\nspec.containers[1].name: Invalid value: \"c\": container c is not found"},
		{"{containers: [{name: a}]}", "spec.containers[0].upgradeStrategy.upgradeType: Invalid value: \"\""},
		{"{containers: [{name: b}], selector: {}}", "spec.selector: Invalid value"},
	} {
		t.Run(test.spec, func(t *testing.T) {
			check(t, sidecarset.ValidateUpdate(setOf(t, "demo", test.spec), setOf(t, "demo", old)), test.want)
		})
	}
}

// What is stored already can be changed elsewhere. (SCS-V20)
func TestValidateStoredHotNative(t *testing.T) {
	const native = "{initContainers: [{name: i, restartPolicy: Always, UPGRADE}], containers: [{name: log}]}"
	cold, hot := strings.Replace(native, "UPGRADE", "image: i", 1), strings.Replace(native, "UPGRADE", "upgradeStrategy: {upgradeType: HotUpgrade, hotUpgradeEmptyImage: e}", 1)
	check(t, sidecarset.ValidateUpdate(setOf(t, "demo", hot), setOf(t, "demo", hot)), "")
	check(t, sidecarset.ValidateUpdate(setOf(t, "demo", hot), setOf(t, "demo", cold)), "spec.initContainers[0].upgradeStrategy.upgradeType: Forbidden")
}

func TestConflicts(t *testing.T) {
	const (
		log   = "containers: [{name: log}]"
		clash = `spec.containers[0].name: Invalid value: "log": container log already exist in other`
		other = "containers: [{name: theirs}]"
	)
	in := func(key string, operator metav1.LabelSelectorOperator, values string) string {
		return "selector: {matchExpressions: [{key: " + key + ", operator: " + string(operator) + ", values: [" + values + "]}]}"
	}
	for _, test := range []struct{ name, set, other, want string }{
		{"SCS-V3: a container", "{" + log + "}", "{" + log + "}", clash},
		{"SCS-V3: one of a hot container", "{containers: [{name: log-1}]}", "{containers: [{name: log, upgradeStrategy: {upgradeType: HotUpgrade}}]}",
			`spec.containers[0].name: Invalid value: "log-1": container log-1 already exist in other`},
		{"SCS-V3: a container and an init container", "{" + log + "}", "{initContainers: [{name: log}], " + other + "}", clash},
		{"SCS-V3: an init container", "{initContainers: [{name: i}], " + log + "}", "{initContainers: [{name: i}], " + other + "}", `spec.initContainers[0].name: Invalid value: "i": container i already exist in other`},
		{"SCS-V3: an equal volume", "{volumes: [{name: v, emptyDir: {}}], " + log + "}", "{volumes: [{name: v, emptyDir: {}}], " + other + "}", ""},
		{"SCS-V3: another volume", "{volumes: [{name: v, emptyDir: {}}], " + log + "}", "{volumes: [{name: v, hostPath: {path: /}}], " + other + "}", `spec.volumes[0].name: Invalid value: "v": volume v is in conflict with sidecarset other`},
		{"SCS-V3: overwritten and merged", "{patchPodMetadata: [{patchPolicy: Overwrite, annotations: {a: b}}], " + log + "}", "{patchPodMetadata: [{patchPolicy: MergePatchJson, annotations: {a: b}}], " + other + "}",
			`spec.patchPodMetadata[0].annotations: Invalid value: "a": annotation a is in conflict with sidecarset other`},
		{"SCS-V3: merged by both", "{patchPodMetadata: [{patchPolicy: MergePatchJson, annotations: {a: b}}], " + log + "}", "{patchPodMetadata: [{patchPolicy: MergePatchJson, annotations: {a: b}}], " + other + "}", ""},
		{"SCS-V3: retained by one", "{patchPodMetadata: [{patchPolicy: Overwrite, annotations: {a: b}}], " + log + "}", "{patchPodMetadata: [{annotations: {a: b}}], " + other + "}", ""},

		{"SCS-V4: another key", "{" + log + "}", "{selector: {matchLabels: {tier: front}}, " + log + "}", clash},
		{"SCS-V4: another value", "{" + log + "}", "{selector: {matchLabels: {app: db}}, " + log + "}", ""},
		{"SCS-V4: a value in common", "{" + log + "}", "{" + in("app", "In", "db, web") + ", " + log + "}", clash},
		{"SCS-V4: no value in common", "{" + log + "}", "{" + in("app", "In", "db, cache") + ", " + log + "}", ""},
		{"SCS-V4: all values excluded", "{" + in("app", "In", "a, b") + ", " + log + "}", "{" + in("app", "NotIn", "a, b, c") + ", " + log + "}", ""},
		{"SCS-V4: not all excluded", "{" + in("app", "In", "a, b") + ", " + log + "}", "{" + in("app", "NotIn", "b, c") + ", " + log + "}", clash},
		{"SCS-V4: absent and present", "{" + log + "}", "{" + in("app", "DoesNotExist", "") + ", " + log + "}", ""},
		{"SCS-V4: wanted by both", "{" + log + "}", "{" + in("app", "Exists", "") + ", " + log + "}", clash},
		{"SCS-V4: not mentioned by the other", "{" + log + "}", "{" + in("tier", "Exists", "") + ", " + log + "}", ""},
		{"SCS-V4: only excluded by the other", "{" + in("app", "NotIn", "a") + ", " + log + "}", "{" + in("app", "Exists", "") + ", " + log + "}", ""},

		{"SCS-V5: one namespace", "{namespace: shop, " + log + "}", "{namespace: shop, " + log + "}", clash},
		{"SCS-V5: two namespaces", "{namespace: shop, " + log + "}", "{namespace: bank, " + log + "}", ""},
		{"SCS-V5: one and all", "{namespace: shop, " + log + "}", "{" + log + "}", clash},
		{"SCS-V5: a selector and all", "{namespaceSelector: {matchLabels: {team: a}}, " + log + "}", "{" + log + "}", clash},
		{"SCS-V5: two selectors", "{namespaceSelector: {matchLabels: {team: a}}, " + log + "}", "{namespaceSelector: {matchLabels: {team: b}}, " + log + "}", ""},
		{"SCS-V5: one that a selector matches", "{namespace: shop, " + log + "}", "{namespaceSelector: {matchLabels: {team: a}}, " + log + "}", clash},
		{"SCS-V5: one that a selector does not match", "{namespace: bank, " + log + "}", "{namespaceSelector: {matchLabels: {team: a}}, " + log + "}", ""},
		{"SCS-V5: a selector, and one that it matches", "{namespaceSelector: {matchLabels: {team: a}}, " + log + "}", "{namespace: shop, " + log + "}", ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			namespaces := func(name string) *corev1.Namespace {
				if name != "shop" {
					return nil
				}
				return &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{"team": "a"}}}
			}
			set := setOf(t, "demo", test.set)
			check(t, sidecarset.Conflicts(set, []*v1alpha1.SidecarSet{set, nil, setOf(t, "other", test.other)}, namespaces), test.want)
		})
	}
}

func TestWhitelist(t *testing.T) {
	const patch = "{patchPodMetadata: [{annotations: {example.com/a: x, b: y}}]}"
	const none = "spec.patchPodMetadata: Forbidden: no rule of SidecarSet_PatchPodMetadata_WhiteList in ConfigMap kruise-configuration allows this SidecarSet"
	for _, test := range []struct {
		name, spec, list string
		byDefault        bool
		want             string
	}{ // SCS-V6
		{name: "nothing to patch", spec: "{}"},
		{name: "no list", spec: patch, want: none},
		{name: "no list, by default", spec: patch, byDefault: true},
		{name: "no rule about it", spec: patch, list: `{"rules":[{"selector":{"matchLabels":{"team":"b"}},"allowedAnnotationKeyExprs":[".*"]}]}`, want: none},
		{name: "allowed", spec: patch, list: `{"rules":[{"selector":{"matchLabels":{"team":"a"}},"allowedAnnotationKeyExprs":["^b$"]},{"allowedAnnotationKeyExprs":["ample"]}]}`},
		{name: "not allowed, though by default", spec: patch, list: `{"rules":[{"allowedAnnotationKeyExprs":["^example.com/"]}]}`, byDefault: true,
			want: "spec.patchPodMetadata[0].annotations[b]: Forbidden: no rule of"},
		{name: "no expression", spec: patch, list: `{"rules":[{"allowedAnnotationKeyExprs":["("]}]}`, byDefault: true, want: "spec.patchPodMetadata: Internal error"},
		{name: "no selector", spec: patch, list: `{"rules":[{"selector":{"matchExpressions":[{"key":"a","operator":"Is"}]}}]}`, byDefault: true, want: "spec.patchPodMetadata: Internal error"},
	} {
		t.Run(test.name, func(t *testing.T) {
			set := setOf(t, "demo", test.spec)
			set.Labels = map[string]string{"team": "a"}
			list, err := sidecarset.ReadWhitelist(&corev1.ConfigMap{Data: map[string]string{sidecarset.WhitelistKey: test.list}})
			if err != nil {
				t.Fatal(err)
			}
			check(t, sidecarset.ValidateMetadata(set, list, test.byDefault), test.want)
		})
	}
	if list, err := sidecarset.ReadWhitelist(nil); list != nil || err != nil {
		t.Errorf("without a ConfigMap: %v, %v", list, err)
	}
	if _, err := sidecarset.ReadWhitelist(&corev1.ConfigMap{Data: map[string]string{sidecarset.WhitelistKey: "rules"}}); err == nil {
		t.Error("no error for a list that cannot be read")
	}
}
