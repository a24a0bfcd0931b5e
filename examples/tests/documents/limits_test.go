// SPDX-License-Identifier: Apache-2.0

package documents

import (
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	availability "github.com/podwright/podwright/availability/v1alpha1"
	distribution "github.com/podwright/podwright/distribution/v1alpha1"
	lifecycle "github.com/podwright/podwright/lifecycle/v1alpha1"
	sidecar "github.com/podwright/podwright/sidecar/v1alpha1"
	workloads "github.com/podwright/podwright/workloads/v1alpha1"
	workloadsv1beta1 "github.com/podwright/podwright/workloads/v1beta1"
)

// TestLimits wants a row in LIMITS.md for each list and each map in what controllers, agents and webhooks write, and no others; and
// in each row a bound, and unless that is given by the type or by what a user wrote, a test of it.
func TestLimits(t *testing.T) {
	var want, got []string
	for _, kind := range []struct {
		name  string
		parts map[string]any
	}{
		{"CloneSet", map[string]any{"status": workloads.CloneSetStatus{}}},
		{"StatefulSet", map[string]any{"status": workloadsv1beta1.StatefulSetStatus{}}},
		{"DaemonSet", map[string]any{"status": workloads.DaemonSetStatus{}}},
		{"BroadcastJob", map[string]any{"status": workloads.BroadcastJobStatus{}}},
		{"AdvancedCronJob", map[string]any{"status": workloads.AdvancedCronJobStatus{}}},
		{"UnitedDeployment", map[string]any{"status": workloads.UnitedDeploymentStatus{}}},
		{"PodUnavailableBudget", map[string]any{"status": availability.PodUnavailableBudgetStatus{}}},
		{"WorkloadSpread", map[string]any{"status": distribution.WorkloadSpreadStatus{}}},
		{"PersistentPodState", map[string]any{"status": distribution.PersistentPodStateStatus{}}},
		{"ResourceDistribution", map[string]any{"status": distribution.ResourceDistributionStatus{}}},
		{"ImagePullJob", map[string]any{"status": distribution.ImagePullJobStatus{}}},
		{"NodeImage", map[string]any{"spec": distribution.NodeImageSpec{}, "status": distribution.NodeImageStatus{}}},
		{"NodePodProbe", map[string]any{"spec": lifecycle.NodePodProbeSpec{}, "status": lifecycle.NodePodProbeStatus{}}},
		{"PodProbeMarker", map[string]any{"status": lifecycle.PodProbeMarkerStatus{}}},
		{"EphemeralJob", map[string]any{"status": lifecycle.EphemeralJobStatus{}}},
		{"ContainerRecreateRequest", map[string]any{"spec": lifecycle.ContainerRecreateRequestSpec{}, "status": lifecycle.ContainerRecreateRequestStatus{}}},
		{"SidecarSet", map[string]any{"status": sidecar.SidecarSetStatus{}}},
	} {
		for part, value := range kind.parts {
			for _, path := range lists(part, reflect.TypeOf(value)) {
				want = append(want, fmt.Sprintf("%s `%s`", kind.name, path))
			}
		}
	}
	for _, row := range regexp.MustCompile("(?m)^\\| (\\w+ `[^`]+`) \\| ([^|]*)\\| ([^|]*)\\| ([^|]*)\\|$").FindAllStringSubmatch(read(t, examples, "LIMITS.md"), -1) {
		got = append(got, row[1])
		given := strings.HasPrefix(row[2], "its types") || strings.HasPrefix(row[2], "the ") || strings.HasPrefix(row[2], "none is written")
		if bound := strings.TrimSpace(row[2]); bound == "" || !given && !strings.HasPrefix(row[4], "[Test") {
			t.Errorf("%s: bound %q, test %q", row[1], bound, row[4])
		}
	}
	slices.Sort(want)
	slices.Sort(got)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("rows (-want +got):\n%s", diff)
	}
}

// lists returns the paths of the lists and maps in a type of ours, as they stand in JSON. Types of Kubernetes are not looked into: they
// stand as they are in what a user wrote.
func lists(path string, t reflect.Type) (all []string) {
	switch t.Kind() {
	case reflect.Pointer:
		return lists(path, t.Elem())
	case reflect.Slice, reflect.Map:
		return append([]string{path}, lists(path, t.Elem())...)
	case reflect.Struct:
		if !strings.HasPrefix(t.PkgPath(), "github.com/podwright/") {
			return nil
		}
		for i := range t.NumField() {
			field := t.Field(i)
			name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
			all = append(all, lists(strings.TrimSuffix(path+"."+name, "."), field.Type)...)
		}
	}
	return all
}
