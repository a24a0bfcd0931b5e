// SPDX-License-Identifier: Apache-2.0

package resource

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podwright/podwright/distribution/v1alpha1"
)

const all = "allNamespaces: true"

func TestNothingToPlanFor(t *testing.T) {
	for _, s := range []*Snapshot{nil, {}} {
		if plan := NewPlan(s); len(plan.Problems) == 0 || plan.Status(nil, noon) != nil {
			t.Errorf("of %+v: %s", s, plan)
		}
	}
}

// A trimmed object says the same as the whole one, and holds nothing of it. (RD-5)
func TestTrim(t *testing.T) {
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "a"}, Data: map[string][]byte{"key": []byte("password")}}
	configMap := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "a"}, Data: map[string]string{"key": "password"}, BinaryData: map[string][]byte{"other": []byte("password")}}
	for _, object := range []Object{secret, configMap} {
		whole := CopyOf(object)
		for range 2 { // it is called again for what it returned
			if _, err := trim(object); err != nil {
				t.Fatal(err)
			}
		}
		if diff := cmp.Diff(whole, CopyOf(object), cmp.AllowUnexported(Copy{})); diff != "" {
			t.Errorf("(-whole +trimmed):\n%s", diff)
		}
		if strings.Contains(fmt.Sprintf("%s", object), "password") {
			t.Errorf("it still holds %s", object)
		}
	}
	if other, err := trim("other"); other != "other" || err != nil || CopyOf("other") != nil {
		t.Errorf("something else: %v, %v", other, err)
	}
}

// A condition names so many namespaces, and the status counts all. (RD-24)
func TestStatusOfManyNamespaces(t *testing.T) {
	s := settled(t, newDistribution(t, secretYAML, all), namespaces("ns-1"))
	var failures []Failure
	for i := range 1500 {
		failures = append(failures, Failure{Namespace: fmt.Sprint("ns-", i), Type: v1alpha1.ResourceDistributionCreateResourceFailed, Err: errors.New("late")})
	}
	status := NewPlan(s).Status(failures, noon)
	if status.Failed != 1500 || len(status.Conditions[1].FailedNamespaces) != mostNamespaces {
		t.Errorf("%d failed, %d named", status.Failed, len(status.Conditions[1].FailedNamespaces))
	}
}

// Which events concern a ResourceDistribution. (RD-13)
func TestConcern(t *testing.T) {
	one, two, leaving := namespaces("ns-1:one")[0], namespaces("ns-1:two")[0], terminating(namespaces("ns-1:one"))[0]
	targets, err := parseTargets(&newDistribution(t, secretYAML, "namespaceLabelSelector: {matchLabels: {group: one}}").Spec.Targets)
	if err != nil {
		t.Fatal(err)
	}
	for name, test := range map[string]struct{ got, want bool }{
		"it appears":                {targets.concern(nil, one), true},
		"it goes":                   {targets.concern(one, nil), true},
		"another one appears":       {targets.concern(nil, two), false},
		"it begins to match":        {targets.concern(two, one), true},
		"it does not match anymore": {targets.concern(one, two), true},
		"it stays":                  {targets.concern(one, one), false},
		"it begins to terminate":    {targets.concern(one, leaving), true},
	} {
		if test.got != test.want {
			t.Errorf("%s: %t, want %t", name, test.got, test.want)
		}
	}
}
