// Package features reads --feature-gates: the names, the defaults and the
// couplings of OpenKruise 1.4, so that the arguments of its Deployment keep
// their meaning. It is arithmetic on text; nothing here is global.
package features

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// Gates says which gates are on. Parse makes it; the zero value has all of
// them off.
type Gates struct {
	enabled map[Gate]bool
	// WithoutEffect names the gates that the text sets but that switch a part
	// which this manager does not run, sorted.
	WithoutEffect []Gate
	// ForcedOff names the gates that the text turns on although the gate that
	// they need is off, sorted. They are off.
	ForcedOff []Gate
}

// Enabled tells whether the gate is on.
func (g Gates) Enabled(gate Gate) bool { return g.enabled[gate] }

// Parse reads a list like "PodWebhook=false,AllAlpha=true". AllAlpha and AllBeta
// set the gates of their stage that the list does not name itself, wherever
// they stand in it. A name without a value is an error, and so is an unknown
// name or a value that is not true or false; all of them are reported at once.
//
// customResources is the legacy variable CUSTOM_RESOURCE_ENABLE, a list of kinds:
// where it is set and lacks SidecarSet, PodWebhook defaults to false.
func Parse(text, customResources string) (Gates, error) {
	explicit, err := parseList(text)
	if err != nil {
		return Gates{}, err
	}
	gates := Gates{enabled: map[Gate]bool{}}
	for gate, fact := range known() {
		gates.enabled[gate] = fact.enabled
		if gate == PodWebhook && lacksSidecarSet(customResources) {
			gates.enabled[gate] = false
		}
		if all, set := explicit[fact.stage]; set {
			gates.enabled[gate] = all
		}
		if value, set := explicit[gate]; set {
			gates.enabled[gate] = value
			if !fact.wired {
				gates.WithoutEffect = append(gates.WithoutEffect, gate)
			}
		}
	}
	for needed, dependents := range coupled() {
		if gates.enabled[needed] {
			continue
		}
		for _, gate := range dependents {
			gates.enabled[gate] = false
			if explicit[gate] {
				gates.ForcedOff = append(gates.ForcedOff, gate)
			}
		}
	}
	slices.Sort(gates.WithoutEffect)
	slices.Sort(gates.ForcedOff)
	return gates, nil
}

// Names returns what --feature-gates accepts, sorted.
func Names() []string {
	names := []string{string(allAlpha), string(allBeta)}
	for gate := range maps.Keys(known()) {
		names = append(names, string(gate))
	}
	slices.Sort(names)
	return names
}

func parseList(text string) (map[Gate]bool, error) {
	accepted := Names()
	values := map[Gate]bool{}
	var errs []error
	for item := range strings.SplitSeq(text, ",") {
		item = strings.TrimSpace(item)
		if item == "" {
			continue
		}
		name, value, hasValue := strings.Cut(item, "=")
		name, value = strings.TrimSpace(name), strings.TrimSpace(value)
		enabled, err := strconv.ParseBool(value)
		switch {
		case !slices.Contains(accepted, name):
			errs = append(errs, fmt.Errorf("%q is not a feature gate; known are %s", name, strings.Join(accepted, ", ")))
		case !hasValue:
			errs = append(errs, fmt.Errorf("%q has no value; write %s=true or %s=false", name, name, name))
		case err != nil:
			errs = append(errs, fmt.Errorf("%q: the value %q is neither true nor false", name, value))
		default:
			values[Gate(name)] = enabled
		}
	}
	return values, errors.Join(errs...)
}

func lacksSidecarSet(customResources string) bool {
	if customResources == "" {
		return false
	}
	for kind := range strings.SplitSeq(customResources, ",") {
		if strings.TrimSpace(kind) == "SidecarSet" {
			return false
		}
	}
	return true
}
