// SPDX-License-Identifier: Apache-2.0

package crds

import (
	"encoding/json"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/yaml"

	"github.com/podwright/podwright/workloads/statefulset"
	"github.com/podwright/podwright/workloads/v1beta1"
)

// specs are lines of a spec. Each is tried under every management policy, and
// as a change from and to every other one.
var specs = []string{
	"", "replicas: 0", "replicas: -1", "revisionHistoryLimit: -1",
	"serviceName: a", "serviceName: b", "selector: {}",
	"selector: {matchLabels: {app: web}, matchExpressions: [{key: app, operator: Exists}]}",
	"selector: {matchExpressions: [{key: app, operator: Is}]}", "selector: {matchExpressions: [{key: app, operator: In}]}",
	"selector: {matchExpressions: [{key: app, operator: Exists, values: [web]}]}",
	"updateStrategy: {type: ''}", "updateStrategy: {type: RollingUpdate}", "updateStrategy: {type: OnDelete}", "updateStrategy: {type: Other}",
	"updateStrategy: {type: OnDelete, rollingUpdate: {}}",
	"updateStrategy: {rollingUpdate: {partition: 0}}", "updateStrategy: {rollingUpdate: {partition: -1}}",
	"updateStrategy: {rollingUpdate: {maxUnavailable: 0}}", "updateStrategy: {rollingUpdate: {maxUnavailable: 1}}", "updateStrategy: {rollingUpdate: {maxUnavailable: 2}}",
	"updateStrategy: {rollingUpdate: {maxUnavailable: -1}}", "updateStrategy: {rollingUpdate: {maxUnavailable: '1'}}", "updateStrategy: {rollingUpdate: {maxUnavailable: '0'}}",
	"updateStrategy: {rollingUpdate: {maxUnavailable: 0%}}", "updateStrategy: {rollingUpdate: {maxUnavailable: 00%}}", "updateStrategy: {rollingUpdate: {maxUnavailable: 01%}}",
	"updateStrategy: {rollingUpdate: {maxUnavailable: 1%}}", "updateStrategy: {rollingUpdate: {maxUnavailable: +10%}}", "updateStrategy: {rollingUpdate: {maxUnavailable: -10%}}",
	"updateStrategy: {rollingUpdate: {maxUnavailable: 1.5%}}", "updateStrategy: {rollingUpdate: {maxUnavailable: 10%%}}", "updateStrategy: {rollingUpdate: {maxUnavailable: ''}}",
	"updateStrategy: {rollingUpdate: {maxUnavailable: 200%}}", "updateStrategy: {rollingUpdate: {maxUnavailable: ' 1%'}}", "updateStrategy: {rollingUpdate: {maxUnavailable: few}}",
	"updateStrategy: {rollingUpdate: {podUpdatePolicy: ''}}", "updateStrategy: {rollingUpdate: {podUpdatePolicy: ReCreate}}", "updateStrategy: {rollingUpdate: {podUpdatePolicy: Recreate}}",
	"updateStrategy: {rollingUpdate: {podUpdatePolicy: InPlaceIfPossible}}", "updateStrategy: {rollingUpdate: {podUpdatePolicy: InPlaceOnly}}",
	"updateStrategy: {rollingUpdate: {paused: true}}", "updateStrategy: {rollingUpdate: {inPlaceUpdateStrategy: {gracePeriodSeconds: -1}}}",
	"updateStrategy: {rollingUpdate: {unorderedUpdate: {}}}", "updateStrategy: {rollingUpdate: {unorderedUpdate: {priorityStrategy: {}}}}",
	"updateStrategy: {rollingUpdate: {unorderedUpdate: {priorityStrategy: {orderPriority: [{orderedKey: a}]}}}}",
	"updateStrategy: {rollingUpdate: {unorderedUpdate: {priorityStrategy: {orderPriority: [{orderedKey: ''}]}}}}",
	"updateStrategy: {rollingUpdate: {unorderedUpdate: {priorityStrategy: {weightPriority: [{weight: 100, matchSelector: {matchLabels: {a: b}}}]}}}}",
	"updateStrategy: {rollingUpdate: {unorderedUpdate: {priorityStrategy: {weightPriority: [{weight: 101, matchSelector: {matchLabels: {a: b}}}]}}}}",
	"updateStrategy: {rollingUpdate: {unorderedUpdate: {priorityStrategy: {weightPriority: [{weight: -1, matchSelector: {matchLabels: {a: b}}}]}}}}",
	"updateStrategy: {rollingUpdate: {unorderedUpdate: {priorityStrategy: {weightPriority: [{weight: 1, matchSelector: {}}]}}}}",
	"updateStrategy: {rollingUpdate: {unorderedUpdate: {priorityStrategy: {orderPriority: [{orderedKey: a}], weightPriority: [{weight: 1, matchSelector: {matchLabels: {a: b}}}]}}}}",
	"updateStrategy: {rollingUpdate: {minReadySeconds: 0}}", "updateStrategy: {rollingUpdate: {minReadySeconds: 300}}",
	"updateStrategy: {rollingUpdate: {minReadySeconds: 301}}", "updateStrategy: {rollingUpdate: {minReadySeconds: -1}}",
	"reserveOrdinals: []", "reserveOrdinals: [0, 7]", `reserveOrdinals: ["5-7", 6]`, "ordinals: {start: 2}", "ordinals: {start: -1}", "volumeClaimUpdateStrategy: {type: OnDelete}",
	"lifecycle: {preDelete: {finalizersHandler: [a/b]}}",
	"scaleStrategy: {}", "scaleStrategy: {maxUnavailable: 1}", "scaleStrategy: {maxUnavailable: 2}", "scaleStrategy: {maxUnavailable: 0}", "scaleStrategy: {maxUnavailable: 10%}",
	"persistentVolumeClaimRetentionPolicy: {}", "persistentVolumeClaimRetentionPolicy: {whenDeleted: '', whenScaled: Delete}",
	"persistentVolumeClaimRetentionPolicy: {whenDeleted: Keep}", "persistentVolumeClaimRetentionPolicy: {whenScaled: delete}",
}

var policies = []string{"", "podManagementPolicy: ''", "podManagementPolicy: OrderedReady", "podManagementPolicy: Parallel", "podManagementPolicy: Other"}

// sample is a StatefulSet whose template is right for every spec.
func sample(lines, policy string) string {
	template := "template: {metadata: {labels: {app: web}}, spec: {containers: [{name: main, image: web:1}], readinessGates: [{conditionType: InPlaceUpdateReady}]}}"
	return statefulSet("v1beta1", strings.TrimSpace(strings.Join([]string{lines, policy, template}, "\n")))
}

// askWebhook is what the webhook says of a new object, or of a change.
func askWebhook(t *testing.T, object, old string) field.ErrorList {
	t.Helper()
	if old == "" {
		return statefulset.ValidateCreate(decode(t, object))
	}
	return statefulset.ValidateUpdate(decode(t, object), decode(t, old))
}

func decode(t *testing.T, text string) *v1beta1.StatefulSet {
	t.Helper()
	data, err := yaml.YAMLToJSON([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	set := &v1beta1.StatefulSet{}
	if err := json.Unmarshal(data, set); err != nil {
		t.Fatalf("%v in %s", err, text)
	}
	return set
}

// The rules of the definition and the webhook refuse the same. So a user without the webhook is as
// safe as one with it.
func TestStatefulSetRulesAndWebhookAgree(t *testing.T) {
	v := newValidator(t, "statefulsets.apps.kruise.io", "v1beta1")
	compare := func(object, old string) {
		rules, errs := v.judge(t, object, old), askWebhook(t, object, old)
		if (len(rules) == 0) != (len(errs) == 0) {
			t.Errorf("%s\nfrom %s\nrules: %q\nwebhook: %v", object, old, rules, errs)
		}
	}
	for _, policy := range policies {
		for _, lines := range specs {
			compare(sample(lines, policy), "")
		}
	}
	for _, to := range specs {
		for _, from := range []string{"", "serviceName: a", "selector: {matchExpressions: [{key: app, operator: Exists}]}"} {
			if to != from {
				compare(sample(to, "podManagementPolicy: Parallel"), sample(from, "podManagementPolicy: Parallel"))
			}
		}
	}
	for _, to := range policies {
		for _, from := range policies {
			if to != from {
				compare(sample("", to), sample("", from))
			}
		}
	}
}

// What the rules cannot say, or must not cost, is the webhook's alone.
func TestStatefulSetRulesThatOnlyTheWebhookHas(t *testing.T) {
	v := newValidator(t, "statefulsets.apps.kruise.io", "v1beta1")
	for _, test := range []struct{ name, spec, want string }{
		{"a negative ordinal", "reserveOrdinals: [-1]", "spec.reserveOrdinals[0]"},
		{"an ordinal twice", "reserveOrdinals: [3, 3]", "spec.reserveOrdinals[1]"},
		{"a string that is no range", `reserveOrdinals: ["5"]`, "spec.reserveOrdinals[0]"},
		{"a range that begins with the higher number", `reserveOrdinals: ["7-5"]`, "spec.reserveOrdinals[0]"},
		{"another volumeClaimUpdateStrategy", "volumeClaimUpdateStrategy: {type: Always}", "spec.volumeClaimUpdateStrategy.type"},
		{"no readiness gate", "updateStrategy: {rollingUpdate: {podUpdatePolicy: InPlaceOnly}}\ntemplate: {metadata: {labels: {app: web}}, spec: {containers: [{name: main, image: web:1}]}}",
			"spec.updateStrategy.rollingUpdate.podUpdatePolicy"},
		{"labels that the selector does not match", "template: {spec: {containers: [{name: main, image: web:1}]}}", "spec.template.metadata.labels"},
		{"a malformed nested selector",
			rolling("unorderedUpdate: {priorityStrategy: {weightPriority: [{weight: 1, matchSelector: {matchExpressions: [{key: a, operator: Like}]}}]}}") +
				"\ntemplate: {metadata: {labels: {app: web}}, spec: {containers: [{name: main, image: web:1}]}}",
			priority + ".weightPriority[0].matchSelector.matchExpressions[0].operator"},
		{"a percentage beyond 64 bits", rolling("maxUnavailable: 99999999999999999999%") + "\ntemplate: {metadata: {labels: {app: web}}, spec: {containers: [{name: main, image: web:1}]}}",
			rollingUpdate + ".maxUnavailable"},
	} {
		t.Run(test.name, func(t *testing.T) {
			object := statefulSet("v1beta1", test.spec)
			if !strings.Contains(test.spec, "template:") {
				object = sample(test.spec, "")
			}
			check(t, nil, v.judge(t, object, ""))
			var got []string
			for _, err := range askWebhook(t, object, "") {
				got = append(got, err.Field)
			}
			check(t, []string{test.want}, got)
		})
	}
}
