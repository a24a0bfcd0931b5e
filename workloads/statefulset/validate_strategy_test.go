// SPDX-License-Identifier: Apache-2.0

package statefulset_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/podwright/podwright/internal/testing/conformance"
	"github.com/podwright/podwright/workloads/statefulset"
)

func TestValidateUpdateStrategy(t *testing.T) {
	const (
		ordered, parallel = `"OrderedReady"`, `"Parallel"`
		rolling           = "spec.updateStrategy.rollingUpdate"
		priority          = rolling + ".unorderedUpdate.priorityStrategy"
	)
	invalid := func(field string) []string { return []string{"Invalid " + rolling + "." + field} }
	for _, tt := range []struct {
		name, policy, rollingUpdate string
		want                        []string
	}{
		{"rollingUpdate: empty", ordered, `{}`, nil},
		{"partition: 0", ordered, `{"partition":0}`, nil},
		{"STS-E7: partition beyond the replicas", ordered, `{"partition":300}`, nil},
		{"partition: negative", ordered, `{"partition":-1}`, invalid("partition")},

		{"STS-E1: maxUnavailable 2 in order", ordered, `{"maxUnavailable":2}`, invalid("maxUnavailable")},
		{"STS-E1: maxUnavailable 10% in order", ordered, `{"maxUnavailable":"10%"}`, invalid("maxUnavailable")},
		{"STS-E1: maxUnavailable 1 in order", ordered, `{"maxUnavailable":1}`, nil},
		{"STS-E1: maxUnavailable 2 in order, which is the default", `""`, `{"maxUnavailable":2}`, invalid("maxUnavailable")},
		{"maxUnavailable: exactly the number 1 in order", ordered, `{"maxUnavailable":"1"}`, invalid("maxUnavailable")},
		{"maxUnavailable: 2 in parallel", parallel, `{"maxUnavailable":2}`, nil},
		{"maxUnavailable: the least percentage in parallel", parallel, `{"maxUnavailable":"1%"}`, nil},
		{"maxUnavailable: a string without %", parallel, `{"maxUnavailable":"30"}`, nil},
		{"STS-E2: maxUnavailable 0", parallel, `{"maxUnavailable":0}`, invalid("maxUnavailable")},
		{"STS-E2: maxUnavailable 0%", parallel, `{"maxUnavailable":"0%"}`, invalid("maxUnavailable")},
		{"STS-E2: maxUnavailable 0 in order", ordered, `{"maxUnavailable":0}`, invalid("maxUnavailable")},
		{"maxUnavailable: negative", parallel, `{"maxUnavailable":-1}`, invalid("maxUnavailable")},
		{"maxUnavailable: negative percentage", parallel, `{"maxUnavailable":"-1%"}`, invalid("maxUnavailable")},
		{"maxUnavailable: fraction of a percent", parallel, `{"maxUnavailable":"12.5%"}`, invalid("maxUnavailable")},
		{"maxUnavailable: no number", parallel, `{"maxUnavailable":"few"}`, invalid("maxUnavailable")},

		{"podUpdatePolicy: ReCreate", ordered, `{"podUpdatePolicy":"ReCreate"}`, nil},
		{"podUpdatePolicy: InPlaceIfPossible", ordered, `{"podUpdatePolicy":"InPlaceIfPossible"}`, nil},
		{"podUpdatePolicy: InPlaceOnly", ordered, `{"podUpdatePolicy":"InPlaceOnly"}`, nil},
		{"podUpdatePolicy: unknown", ordered, `{"podUpdatePolicy":"Recreate"}`, []string{"NotSupported " + rolling + ".podUpdatePolicy"}},

		{"paused", ordered, `{"paused":true}`, nil},
		{"inPlaceUpdateStrategy: not validated", ordered, `{"inPlaceUpdateStrategy":{"gracePeriodSeconds":-1}}`, nil},

		{"unorderedUpdate: in parallel", parallel, `{"unorderedUpdate":{}}`, nil},
		{"unorderedUpdate: in order", ordered, `{"unorderedUpdate":{}}`, []string{"Forbidden " + rolling + ".unorderedUpdate"}},
		{"priorityStrategy: in order", `""`, `{"unorderedUpdate":{"priorityStrategy":{"orderPriority":[{"orderedKey":"a"}]}}}`, []string{"Forbidden " + rolling + ".unorderedUpdate"}},
		{"priorityStrategy: weights", parallel, `{"unorderedUpdate":{"priorityStrategy":{"weightPriority":[{"weight":100,"matchSelector":{"matchLabels":{"a":"b"}}}]}}}`, nil},
		{"priorityStrategy: weight out of range", parallel, `{"unorderedUpdate":{"priorityStrategy":{"weightPriority":[{"weight":101,"matchSelector":{"matchLabels":{"a":"b"}}}]}}}`,
			[]string{"Invalid " + priority + ".weightPriority[0].weight"}},
		{"priorityStrategy: empty selector", parallel, `{"unorderedUpdate":{"priorityStrategy":{"weightPriority":[{"weight":1,"matchSelector":{}}]}}}`,
			[]string{"Required " + priority + ".weightPriority[0].matchSelector"}},
		{"priorityStrategy: order without key", parallel, `{"unorderedUpdate":{"priorityStrategy":{"orderPriority":[{"orderedKey":""}]}}}`,
			[]string{"Required " + priority + ".orderPriority[0].orderedKey"}},
		{"priorityStrategy: both", parallel, `{"unorderedUpdate":{"priorityStrategy":{"orderPriority":[{"orderedKey":"a"}],"weightPriority":[{"weight":1,"matchSelector":{"matchLabels":{"a":"b"}}}]}}}`,
			[]string{"Forbidden " + priority}},

		{"minReadySeconds: 0", ordered, `{"minReadySeconds":0}`, nil},
		{"minReadySeconds: 300", ordered, `{"minReadySeconds":300}`, nil},
		{"STS-E5: minReadySeconds 301", ordered, `{"minReadySeconds":301}`, invalid("minReadySeconds")},
		{"minReadySeconds: negative", ordered, `{"minReadySeconds":-1}`, invalid("minReadySeconds")},

		{"several problems", ordered, `{"partition":-1,"minReadySeconds":301}`, append(invalid("partition"), invalid("minReadySeconds")...)},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := statefulset.ValidateCreate(validation.Demo(t, "podManagementPolicy", tt.policy, "updateStrategy", `{"rollingUpdate":`+tt.rollingUpdate+`}`))
			if diff := cmp.Diff(tt.want, conformance.Problems(got)); diff != "" {
				t.Errorf("ValidateCreate (-want +got):\n%s\n%v", diff, got.ToAggregate())
			}
		})
	}
}

func TestValidateUpdateStrategyType(t *testing.T) {
	for _, tt := range []struct {
		name, strategy string
		want           []string
	}{
		{"type: RollingUpdate", `{"type":"RollingUpdate","rollingUpdate":{}}`, nil},
		{"type: empty is the default", `{"type":""}`, nil},
		{"type: OnDelete", `{"type":"OnDelete"}`, nil},
		{"type: OnDelete with rollingUpdate", `{"type":"OnDelete","rollingUpdate":{"partition":-1}}`, []string{"Forbidden spec.updateStrategy.rollingUpdate"}},
		{"type: unknown", `{"type":"InPlace","rollingUpdate":{"partition":-1}}`, []string{"NotSupported spec.updateStrategy.type", "Invalid spec.updateStrategy.rollingUpdate.partition"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := statefulset.ValidateCreate(validation.Demo(t, "updateStrategy", tt.strategy))
			if diff := cmp.Diff(tt.want, conformance.Problems(got)); diff != "" {
				t.Errorf("ValidateCreate (-want +got):\n%s\n%v", diff, got.ToAggregate())
			}
		})
	}
}

func TestValidateReadinessGate(t *testing.T) {
	const wrong = "Invalid spec.updateStrategy.rollingUpdate.podUpdatePolicy"
	for _, tt := range []struct {
		name, policy, gates string
		want                []string
	}{
		{"ReCreate needs no gate", "ReCreate", `[]`, nil},
		{"no policy needs no gate", "", `[]`, nil},
		{"STS-E3: InPlaceIfPossible without the gate", "InPlaceIfPossible", `[]`, []string{wrong}},
		{"STS-E3: InPlaceOnly without the gate", "InPlaceOnly", `null`, []string{wrong}},
		{"STS-E3: another gate", "InPlaceIfPossible", `[{"conditionType":"Other"}]`, []string{wrong}},
		{"the gate among others", "InPlaceIfPossible", `[{"conditionType":"Other"},{"conditionType":"InPlaceUpdateReady"}]`, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			template := strings.Replace(conformance.Template("", "", ""), `[{"conditionType":"InPlaceUpdateReady"}]`, tt.gates, 1)
			got := statefulset.ValidateCreate(validation.Demo(t, "template", template, "updateStrategy", `{"rollingUpdate":{"podUpdatePolicy":"`+tt.policy+`"}}`))
			if diff := cmp.Diff(tt.want, conformance.Problems(got)); diff != "" {
				t.Errorf("ValidateCreate (-want +got):\n%s\n%v", diff, got.ToAggregate())
			}
		})
	}
}

func TestValidateScaleStrategy(t *testing.T) {
	const wrong = "Invalid spec.scaleStrategy.maxUnavailable"
	for _, tt := range []struct {
		name, policy, scale string
		want                []string
	}{
		{"no limit", `"OrderedReady"`, `{}`, nil},
		{"1 in order", `"OrderedReady"`, `{"maxUnavailable":1}`, nil},
		{"2 in order", `"OrderedReady"`, `{"maxUnavailable":2}`, []string{wrong}},
		{"a percentage in order", `""`, `{"maxUnavailable":"100%"}`, []string{wrong}},
		{"a percentage in parallel", `"Parallel"`, `{"maxUnavailable":"10%"}`, nil},
		{"0 in parallel", `"Parallel"`, `{"maxUnavailable":0}`, []string{wrong}},
		{"no number in parallel", `"Parallel"`, `{"maxUnavailable":"few"}`, []string{wrong}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := statefulset.ValidateCreate(validation.Demo(t, "podManagementPolicy", tt.policy, "scaleStrategy", tt.scale))
			if diff := cmp.Diff(tt.want, conformance.Problems(got)); diff != "" {
				t.Errorf("ValidateCreate (-want +got):\n%s\n%v", diff, got.ToAggregate())
			}
		})
	}
}
