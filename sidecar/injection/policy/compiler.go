// SPDX-License-Identifier: Apache-2.0

package policy

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/podwright/podwright/sidecar/injection"
	"github.com/podwright/podwright/sidecar/v1alpha1"
)

// compiler makes the variables of a policy. Those that it lists in patches and moves hold
// operations of a JSON patch, and checks none. Of values in the pod these are copied, in place of
// being written anew: so everything that a value holds comes along.
//
// What is new stands at the end of its list until all is copied. So the pod's own
// containers keep the places at which the operations look for them. Only then it is moved
// to its place.
type compiler struct {
	Input
	set       *v1alpha1.SidecarSet // with its defaults
	variables []admissionregistrationv1.Variable
	// checks, patches and moves are names of variables in the order in which they count.
	checks, patches, moves []string
}

// define adds a variable, and returns how to read it.
func (c *compiler) define(name, expression string) string {
	c.variables = append(c.variables, admissionregistrationv1.Variable{Name: name, Expression: expression})
	return "variables." + name
}

// patch adds a variable that holds operations.
func (c *compiler) patch(name, operations string) {
	c.patches = append(c.patches, c.define(name, operations))
}

// move adds one whose operations come after all others.
func (c *compiler) move(name, operations string) {
	c.moves = append(c.moves, c.define(name, operations))
}

// mutation is the JSON patch. Variables cannot hold one.
func (c *compiler) mutation() string {
	return "(" + strings.Join(slices.Concat(c.checks, c.patches, c.moves), " + ") + ").map(o, JSONPatch{op: o.op, path: o.path, from: o.from, value: o.value})"
}

// add is an operation that adds a value; both are expressions.
func add(path, value string) string { return operation("add", path, `""`, value) }

// replaced, copied and moved are operations of the same kind.
func replaced(path, value string) string { return operation("replace", path, `""`, value) }
func copied(from, path string) string    { return operation("copy", path, from, "null") }
func moved(from, path string) string     { return operation("move", path, from, "null") }

func operation(op, path, from, value string) string {
	return fmt.Sprintf(`{"op": dyn(%q), "path": dyn(%s), "from": dyn(%s), "value": dyn(%s)}`, op, path, from, value)
}

// first is a list with the first element of a list, if it has one.
func first(list string) string { return "[" + list + "].map(l, l.size() > 1 ? l.slice(0, 1) : l)[0]" }

// isInjected tells whether a container was injected.
func isInjected(container string) string {
	return fmt.Sprintf(`%s.?env.orValue([]).exists(v, v.name == %q && v.?value.orValue("") == "true")`, container, v1alpha1.SidecarInjectedEnv)
}

// compile makes all variables.
func (c *compiler) compile() error {
	all, err := c.sidecars()
	if err != nil {
		return err
	}
	c.define("annotations", `object.?metadata.?annotations.orValue({})`)
	c.define("containers", `object.spec.containers`)
	c.define("names", `variables.containers.map(c, c.name)`)
	c.define("inits", `object.spec.?initContainers.orValue([])`)
	c.define("initNames", `variables.inits.map(c, c.name)`)
	if err := c.metadata(); err != nil {
		return err
	}
	c.sources(all)
	for _, step := range []func([]sidecar) error{c.initContainers, c.regularContainers, c.volumes} {
		if err := step(all); err != nil {
			return err
		}
	}
	return c.remember(all)
}

// sidecar is a container of the SidecarSet.
type sidecar struct {
	*v1alpha1.SidecarContainer
	names []string // under which it is injected
	id    string   // part of the names of its variables
	init  bool
}

// sidecars lists the containers. Those of one name need to know of one another which was
// injected, and admission of SidecarSets refuses them.
func (c *compiler) sidecars() (all []sidecar, err error) {
	taken := map[string]bool{}
	collect := func(containers []v1alpha1.SidecarContainer, init bool) {
		for i := range containers {
			s := sidecar{SidecarContainer: &containers[i], id: fmt.Sprint(i), init: init}
			s.names = []string{s.Name}
			if s.ResourcesPolicy != nil || s.ShareVolumeDevicePolicy != nil && s.ShareVolumeDevicePolicy.Type == v1alpha1.ShareVolumePolicyEnabled {
				err = errors.Join(err, fmt.Errorf("container %s: a policy cannot compute its resources, nor share devices with it; have a webhook inject", s.Name))
			}
			if init {
				s.id = "Init" + s.id
				if s.ShareVolumePolicy.Type == v1alpha1.ShareVolumePolicyEnabled || s.PodInjectPolicy == v1alpha1.BeforeAppContainerType {
					err = errors.Join(err, fmt.Errorf("init container %s: a policy cannot share mounts with it, nor put it in front of the pod's own; have a webhook inject", s.Name))
				}
			} else if s.hot() {
				one, other := injection.HotContainers(s.Name)
				s.names = []string{one, other}
			}
			for _, name := range s.names {
				if taken[name] {
					err = errors.Join(err, fmt.Errorf("two of its containers have the name %q; rename one", name))
				}
				taken[name] = true
			}
			all = append(all, s)
		}
	}
	collect(c.set.Spec.InitContainers, true)
	collect(c.set.Spec.Containers, false)
	if n := len(taken); n > maxContainers {
		err = errors.Join(err, fmt.Errorf("it has %d containers, a hot one counted twice: a policy can inject %d at most, by what an API server lets it cost", n, maxContainers))
	}
	return all, err
}

func (s *sidecar) hot() bool {
	return s.UpgradeStrategy.UpgradeType == v1alpha1.SidecarContainerHotUpgrade
}

// sources finds the pod's own containers, and what of theirs is shared. (SCP-4)
func (c *compiler) sources(all []sidecar) {
	var names []string
	shares := false
	for _, s := range all {
		if !s.init {
			names = append(names, s.names...)
			shares = shares || s.ShareVolumePolicy.Type == v1alpha1.ShareVolumePolicyEnabled
		}
	}
	c.define("own", fmt.Sprintf(`variables.containers.transformList(i, c, !(c.name in %s) && !%s, i)`, texts(names), isInjected("c")))
	if !shares {
		return
	}
	c.define("ownMounts", `variables.own.map(i, variables.containers[i].?volumeMounts.orValue([]).transformList(j, m, {"path": dyn(m.mountPath), `+
		`"from": dyn("/spec/containers/" + string(i) + "/volumeMounts/" + string(j)), "container": dyn(i), "expr": dyn(m.?subPathExpr.orValue(""))})).flatten()`)
	c.define("mountPaths", `variables.ownMounts.map(m, m.path)`)
	needs := fmt.Sprintf(`m.expr.findAll(%s).filter(r, r != "$$").map(r, %s).flatten()`, text(`\$\$|\$\([^()]+\)`), envNamed("m.container", `r.substring(2, r.size() - 1)`))
	c.define("mounts", fmt.Sprintf(`variables.ownMounts.transformList(n, m, variables.mountPaths.indexOf(m.path) == n, {"path": dyn(m.path), "from": dyn(m.from), "needs": dyn(%s)})`, needs))
}

// transferred defines the variables that are copied for a container. (SCP-4)
func (c *compiler) transferred(s *sidecar) (string, error) {
	var pairs []string
	for i := range s.TransferEnv {
		t := &s.TransferEnv[i]
		source := c.sourceName(t)
		if source == "" {
			continue
		}
		names := slices.Clone(t.EnvNames)
		if t.EnvName != "" {
			names = append(names, t.EnvName)
		}
		slices.Sort(names)
		for _, name := range slices.Compact(names) {
			pairs = append(pairs, fmt.Sprintf(`{"source": %s, "name": %s}`, source, text(name)))
		}
	}
	if len(pairs) == 0 {
		return "", nil
	}
	if n := len(pairs); n > maxTransfers {
		return "", fmt.Errorf("container %s: transferEnv names %d variables, more than the %d that a policy can copy at the cost that an API server allows", s.Name, n, maxTransfers)
	}
	source := first(`variables.own.filter(i, variables.containers[i].name == p.source)`)
	return c.define("transferred"+s.id, fmt.Sprintf(`[%s].map(p, %s.map(i, %s).flatten()).flatten()`, strings.Join(pairs, ", "), source, envNamed("i", "p.name"))), nil
}

// envNamed finds the variable of a name in the container of an index: both are expressions.
func envNamed(container, name string) string {
	return first(fmt.Sprintf(`variables.containers[%s].?env.orValue([]).transformList(j, e, e.name == %s, `+
		`{"name": dyn(e.name), "from": dyn("/spec/containers/" + string(%[1]s) + "/env/" + string(j))})`, container, name))
}

// sourceName is an expression of the name of the container that a transfer copies from;
// empty if there is none.
func (c *compiler) sourceName(t *v1alpha1.TransferEnvVar) string {
	from := t.SourceContainerNameFrom
	if from == nil || from.FieldRef == nil {
		return text(t.SourceContainerName)
	}
	switch of, key, _ := injection.FieldPath(from.FieldRef.FieldPath); of {
	case "labels":
		return fmt.Sprintf(`object.?metadata.?labels[?%s].orValue("")`, text(key))
	case "annotations":
		return c.annotation(key)
	}
	return ""
}

// shared defines the mounts that are copied for a container, and the variables that they
// need. (SCP-4)
func (c *compiler) shared(s *sidecar) (mounts, needed string) {
	if s.init || s.ShareVolumePolicy.Type != v1alpha1.ShareVolumePolicyEnabled {
		return "", ""
	}
	var paths []string
	for _, m := range s.VolumeMounts {
		paths = append(paths, m.MountPath)
	}
	mounts = c.define("shared"+s.id, fmt.Sprintf(`variables.mounts.filter(m, !(m.path in %s))`, texts(paths)))
	needed = c.define("needed"+s.id, mounts+`.map(m, m.needs).flatten()`)
	return mounts, needed
}

// names of the variables of a container.
func envNames(env []corev1.EnvVar) []string {
	names := make([]string, len(env))
	for i := range env {
		names[i] = env[i].Name
	}
	return names
}
