// SPDX-License-Identifier: Apache-2.0

package layers

import (
	"cmp"
	"go/ast"
	"maps"
	"regexp"
	"slices"
	"strings"
)

// numberOfKinds is how many packages have New and a Plan.
const numberOfKinds = 27

// isKind tells whether a package is that of a kind: it makes controllers.
func (a *api) isKind() bool {
	_, plans := a.types["Plan"]
	return plans && strings.HasPrefix(a.funcs["New"], "(Options)")
}

// The shapes that all packages of kinds have.
var (
	kindTypes = map[string]string{
		"Controller": "podwright.Controller[Snapshot, Plan]",
		"Reconciler": "podwright.Reconciler[Snapshot, Plan]",
	}
	kindFuncs = map[string]string{
		"New":           "(Options) (Controller, error)",
		"NewReconciler": "(Options) (Reconciler, error)",
		"NewPlan":       "(*Snapshot) *Plan",
		"Rules":         "(Options) []rbacv1.PolicyRule",
	}
	kindOptions = map[string]string{
		"ControllerOptions": "podwright.ControllerOptions",
		"Recorder":          "record.EventRecorder",
	}
	// planFields are those that a Plan has if it has anything of the sort; nothing that is called as planFields says otherwise.
	planFields = map[string]string{
		"Waiting":      "[]rollout.Wait",
		"WaitingNodes": "[]rollout.Wait",
		"Held":         "[]rollout.Wait",
		"Problems":     "[]rollout.Problem",
		"RequeueAfter": "time.Duration",
	}
	otherNames = map[string]string{"HeldUp": "Held", "Problem": "Problems"}
)

// checking returns what compares a shape with that which all have.
func checking(found *[]unlikeness) func(what, is, want string) {
	return func(what, is, want string) {
		if is != want {
			*found = append(*found, unlikeness{what, cmp.Or(is, "not there"), want})
		}
	}
}

// unlikeKind lists what deviates in the package of a kind.
func (a *api) unlikeKind() (found []unlikeness) {
	check := checking(&found)
	for _, name := range slices.Sorted(maps.Keys(kindTypes)) {
		is, there := a.types[name]
		if there && is == "" {
			is = "a struct"
		}
		check(name, is, kindTypes[name])
	}
	for _, name := range slices.Sorted(maps.Keys(kindFuncs)) {
		check(name, a.funcs[name], kindFuncs[name])
	}
	for _, name := range slices.Sorted(maps.Keys(kindOptions)) {
		is, _ := a.field("Options", name)
		check("Options."+name, is, kindOptions[name])
	}
	for _, f := range a.fields["Plan"] {
		if want, known := planFields[f.name]; known {
			check("Plan."+f.name, f.of, want)
		}
		if want, other := otherNames[f.name]; other {
			check("Plan."+f.name, f.name, want)
		}
	}
	check("Plan.String", strings.TrimPrefix(a.methods["Plan"]["String"], "*"), "() string")
	return found
}

// The shapes that functions have in whichever package.
var (
	ifThere = map[string]*regexp.Regexp{
		"NamespaceRules": regexp.MustCompile(`^\(Options\) \(string, \[\]rbacv1\.PolicyRule\)$`),
		"Default":        regexp.MustCompile(`^\(\*[a-z0-9]+\.\w+(, \*[a-z0-9]+\.\w+, DefaultOptions)?\)$`),
		"ValidateCreate": regexp.MustCompile(`^\(\*[a-z0-9]+\.\w+\) field\.ErrorList$`),
		"ValidateUpdate": regexp.MustCompile(`^\(\*[a-z0-9]+\.\w+, \*[a-z0-9]+\.\w+\) field\.ErrorList$`),
		"ValidateDelete": regexp.MustCompile(`^\(\*[a-z0-9]+\.\w+\) error$`),
		"RolloutStatus":  regexp.MustCompile(`^\(\*[a-z0-9]+\.\w+\) rollout\.Status$`),
	}
	answer = "*(context.Context, *admissionv1.AdmissionRequest) *admissionv1.AdmissionResponse"
	rights = "*() []rbacv1.PolicyRule"
)

// unlike lists what deviates in any package.
func (a *api) unlike() (found []unlikeness) {
	check := checking(&found)
	for _, name := range slices.Sorted(maps.Keys(ifThere)) {
		if is := a.funcs[name]; is != "" && !ifThere[name].MatchString(is) {
			found = append(found, unlikeness{name, is, ifThere[name].String()})
		}
	}
	if _, serves := a.types["Webhook"]; serves {
		methods := a.methods["Webhook"]
		check("Webhook.Handlers", methods["Handlers"], "*() map[string]http.Handler")
		check("Webhook.Rules", methods["Rules"], rights)
		for _, name := range []string{"Default", "Validate"} {
			check("Webhook."+name, cmp.Or(methods[name], answer), answer)
		}
	}
	for _, of := range slices.Sorted(maps.Keys(a.methods)) {
		if a.method(of, "Run") == "*(context.Context) error" && ast.IsExported(of) { // what has caches
			check(of+".HasSynced", a.method(of, "HasSynced"), "*() bool")
			check(of+".Rules", a.method(of, "Rules"), rights)
		}
	}
	return append(append(found, a.unlikeOptions()...), a.unlikeNames()...)
}

// unlikeOptions lists what deviates in structs of options: switches stand in Features, Namespace restricts informers, and
// StatefulSets are those of Kubernetes.
func (a *api) unlikeOptions() (found []unlikeness) {
	for _, of := range slices.Sorted(maps.Keys(a.fields)) {
		if !strings.HasSuffix(of, "Options") {
			continue
		}
		_, ours := a.field(of, "AdvancedStatefulSets")
		for _, f := range a.fields[of] {
			switch {
			case f.of == "bool" && of == "Options":
				found = append(found, unlikeness{of + "." + f.name, "a switch", "a field of Features"})
			case f.name == "Namespace":
				found = append(found, unlikeness{of + "." + f.name, "perhaps of something else", "that of ControllerOptions, which restricts informers"})
			case f.name == "StatefulSets" && f.of == "cache.SharedIndexInformer" && !ours:
				found = append(found, unlikeness{of + "." + f.name, "without AdvancedStatefulSets beside it", "AdvancedStatefulSets, if they are those of this library"})
			}
		}
	}
	return found
}

// unlikeNames lists exported names that write one word as two.
func (a *api) unlikeNames() (found []unlikeness) {
	for _, name := range slices.Concat(slices.Sorted(maps.Keys(a.types)), slices.Sorted(maps.Keys(a.funcs))) {
		if strings.Contains(name, "WhiteList") {
			found = append(found, unlikeness{name, "two words", "Whitelist"})
		}
	}
	return found
}
