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
	"k8s.io/apimachinery/pkg/runtime"

	availability "github.com/podwright/podwright/availability/v1alpha1"
	distribution "github.com/podwright/podwright/distribution/v1alpha1"
	lifecycle "github.com/podwright/podwright/lifecycle/v1alpha1"
	sidecar "github.com/podwright/podwright/sidecar/v1alpha1"
	workloads "github.com/podwright/podwright/workloads/v1alpha1"
	workloadsv1beta1 "github.com/podwright/podwright/workloads/v1beta1"
)

// TestLimits wants a row in LIMITS.md for each list and each map in what controllers, agents and webhooks write, and no others.
// Each row has a bound. It also has a test of the bound, unless the type or what a user wrote gives it.
func TestLimits(t *testing.T) {
	var want, got []string
	for kind, of := range types(t) {
		parts := []string{"Status"}
		if kind == "NodeImage" || kind == "NodePodProbe" || kind == "ContainerRecreateRequest" {
			parts = append(parts, "Spec") // which controllers write
		}
		for _, part := range parts {
			if field, found := of.FieldByName(part); found {
				for _, path := range lists(strings.ToLower(part), field.Type) {
					want = append(want, fmt.Sprintf("%s `%s`", kind, path))
				}
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

// TestHostileTenants wants a line in the table of SECURITY.md for each kind that a tenant may create. The line says what its author
// may try against others, what comes of that, and which test holds it. Workloads share theirs. Nodes' objects are the controllers'
// and the agents'.
func TestHostileTenants(t *testing.T) {
	lines := map[string]int{}
	for _, row := range regexp.MustCompile(`(?m)^\| ([\w ]+) \| ([^|]+) \| ([^|]+) \| \[[tT]est[^|]+ \|$`).FindAllStringSubmatch(read(t, repository, "SECURITY.md"), -1) {
		lines[row[1]]++
	}
	for kind, of := range types(t) {
		line := kind
		switch {
		case slices.Contains([]string{"NodeImage", "NodePodProbe"}, kind):
			continue
		case strings.HasPrefix(of.PkgPath(), "github.com/podwright/podwright/sidecar/"): // of the cluster: the author may create pods in all namespaces
			continue
		case strings.HasPrefix(of.PkgPath(), "github.com/podwright/podwright/workloads/"):
			line = "any workload"
		}
		if lines[line] == 0 {
			t.Errorf("SECURITY.md has no line about a hostile author of a %s in its table, or none that cites a test", kind)
		}
		delete(lines, kind)
	}
	delete(lines, "any workload")
	for kind := range lines {
		t.Errorf("SECURITY.md has a line about a %s, which is no kind of ours", kind)
	}
}

// types returns those of our kinds by their names: v1beta1 of StatefulSets, which is stored.
func types(t *testing.T) map[string]reflect.Type {
	scheme, all := runtime.NewScheme(), map[string]reflect.Type{}
	for _, add := range []func(*runtime.Scheme) error{
		workloads.AddToScheme, workloadsv1beta1.AddToScheme, distribution.AddToScheme, lifecycle.AddToScheme, sidecar.AddToScheme, availability.AddToScheme,
	} {
		if err := add(scheme); err != nil {
			t.Fatal(err)
		}
	}
	for kind, of := range scheme.AllKnownTypes() {
		if _, object := of.FieldByName("ObjectMeta"); object && kind != workloads.SchemeGroupVersion.WithKind("StatefulSet") {
			all[kind.Kind] = of
		}
	}
	return all
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
