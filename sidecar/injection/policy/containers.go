// SPDX-License-Identifier: Apache-2.0

package policy

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/podwright/podwright/sidecar/v1alpha1"
)

var injectedEnv = corev1.EnvVar{Name: v1alpha1.SidecarInjectedEnv, Value: "true"}

// initContainers puts init containers behind the pod's own, sorted by name among those
// that others have injected. (SCP-3)
func (c *compiler) initContainers(all []sidecar) error {
	var inits []sidecar
	var names []string
	for _, s := range all {
		if s.init {
			inits, names = append(inits, s), append(names, s.Name)
		}
	}
	if len(inits) == 0 {
		return nil
	}
	slices.Sort(names)
	c.define("leftOutInit", texts(names)+`.filter(x, x in variables.names)`)
	c.define("addedInit", texts(names)+`.filter(x, !(x in variables.initNames) && !(x in variables.names))`)
	c.patch("initList", fmt.Sprintf(`variables.inits.size() == 0 ? [%s] : []`, add(`"/spec/initContainers"`, "[]")))
	slices.SortFunc(inits, func(a, b sidecar) int { return strings.Compare(a.Name, b.Name) })
	for i := range inits {
		s := &inits[i]
		container := *s.Container.DeepCopy()
		container.Env = append(container.Env, injectedEnv)
		var copies []string
		env, err := c.transferred(s)
		if err != nil {
			return err
		}
		if env != "" {
			copies = append(copies, copiesOf(env, "/spec/initContainers/", s, "env"))
		}
		if err := c.container(s, container, "initContainers", "initNames", "addedInit", "leftOutInit", copies); err != nil {
			return err
		}
	}
	c.define("initTail", fmt.Sprintf(`variables.initNames.slice(variables.inits.map(c, %s).lastIndexOf(false) + 1, variables.initNames.size())`, isInjected("c")))
	c.move("initMoves", fmt.Sprintf(`variables.addedInit.transformList(n, x, %s)`, moved(
		`"/spec/initContainers/" + string(variables.initNames.size() + n)`,
		`"/spec/initContainers/" + string(variables.initNames.size() - variables.initTail.size() + variables.initTail.filter(y, y < x).size() + n)`)))
	return nil
}

// regularContainers puts containers in front of the pod's own and behind them, in the order of
// the names of SidecarSets, whichever policy comes first. (SCP-3, SCP-5)
func (c *compiler) regularContainers(all []sidecar) error {
	var before, after []sidecar
	var groups []string
	for _, s := range all {
		switch {
		case s.init:
			continue
		case s.PodInjectPolicy == v1alpha1.AfterAppContainerType:
			after = append(after, s)
		default:
			before = append(before, s)
		}
		groups = append(groups, texts(s.names))
	}
	if len(groups) == 0 {
		return nil
	}
	const added = `.filter(x, !(x in variables.names) && !(x in variables.leftOut))`
	c.define("leftOut", fmt.Sprintf(`[%s].filter(g, g.exists(x, x in variables.initNames)).flatten()`, strings.Join(groups, ", ")))
	c.define("addedBefore", texts(namesOf(before))+added)
	c.define("addedAfter", texts(namesOf(after))+added)
	c.define("added", `variables.addedBefore + variables.addedAfter`)
	for _, s := range slices.Concat(before, after) {
		if err := c.sidecar(&s); err != nil {
			return err
		}
	}
	c.records()
	c.place(before, after)
	return nil
}

func namesOf(all []sidecar) (names []string) {
	for _, s := range all {
		names = append(names, s.names...)
	}
	return names
}

// sidecar makes what is injected for a container, or both of a hot one.
func (c *compiler) sidecar(s *sidecar) error {
	container := *s.Container.DeepCopy()
	container.Env = missing(container.Env, injectedEnv)
	transferred, err := c.transferred(s)
	if err != nil {
		return err
	}
	mounts, needed := c.shared(s)
	candidates := slices.DeleteFunc([]string{transferred, needed}, func(v string) bool { return v == "" })
	env := ""
	if len(candidates) > 0 {
		all := c.define("candidates"+s.id, strings.Join(candidates, " + "))
		names := c.define("candidateNames"+s.id, all+`.map(e, e.name)`)
		env = c.define("env"+s.id, fmt.Sprintf(`%s.transformList(n, e, !(e.name in %s) && %s.indexOf(e.name) == n, e)`, all, texts(envNames(container.Env)), names))
	}
	for i, name := range s.names {
		one := *s
		one.id += [...]string{"", "Second"}[i]
		one.names = []string{name}
		if err := c.actual(&one, *container.DeepCopy(), mounts, env); err != nil {
			return err
		}
	}
	return nil
}

// actual injects a container under its only name. (SCP-3)
func (c *compiler) actual(s *sidecar, container corev1.Container, mounts, env string) error {
	container.Name = s.names[0]
	var copies, versions []string
	if mounts != "" {
		// The list must be there to copy into.
		copies = append(copies, copiesOf(mounts, "/spec/containers/", s, "volumeMounts"))
		if len(container.VolumeMounts) == 0 {
			copies[0] = fmt.Sprintf(`(%s.size() == 0 ? [] : [%s])`, mounts, add(path("/spec/containers/", s, "volumeMounts"), "[]")) + " + " + copies[0]
		}
	}
	if env != "" {
		copies = append(copies, copiesOf(env, "/spec/containers/", s, "env"))
	}
	if s.hot() {
		if s.names[0] != s.Name+"-1" {
			container.Image = s.UpgradeStrategy.HotUpgradeEmptyImage
		}
		for _, v := range versionEnv(s.names[0]) {
			switch {
			case env == "":
				container.Env = missing(container.Env, v)
			case !slices.Contains(envNames(container.Env), v.Name):
				value, err := literal(v)
				if err != nil {
					return err
				}
				versions = append(versions, fmt.Sprintf(`(%s.exists(e, e.name == %q) ? [] : [%s])`, env, v.Name, add(path("/spec/containers/", s, "env")+` + "/-"`, value)))
			}
		}
	}
	return c.container(s, container, "containers", "names", "added", "leftOut", append(copies, versions...))
}

// missing adds a variable unless there is one of the name.
func missing(env []corev1.EnvVar, v corev1.EnvVar) []corev1.EnvVar {
	if slices.Contains(envNames(env), v.Name) {
		return env
	}
	return append(env, v)
}

// versionEnv are the variables of one of the two containers of a hot one.
func versionEnv(name string) []corev1.EnvVar {
	of := func(env, annotation string) corev1.EnvVar {
		return corev1.EnvVar{Name: env, ValueFrom: &corev1.EnvVarSource{FieldRef: &corev1.ObjectFieldSelector{
			APIVersion: "v1", FieldPath: "metadata.annotations['" + annotation + "']"}}}
	}
	return []corev1.EnvVar{
		of(v1alpha1.SidecarSetVersionEnv, v1alpha1.SidecarSetVersionAnnotationPrefix+name),
		of(v1alpha1.SidecarSetVersionAltEnv, v1alpha1.SidecarSetVersionAltAnnotationPrefix+name),
	}
}

// path is an expression of the path of a field of a container while it is patched.
func path(list string, s *sidecar, field string) string {
	return fmt.Sprintf(`%q + string(variables.at%s) + "/%s"`, list, s.id, field)
}

// copiesOf copies elements of lists of the pod's own containers.
func copiesOf(elements, list string, s *sidecar, field string) string {
	return fmt.Sprintf(`%s.map(e, %s)`, elements, copied("e.from", path(list, s, field)+` + "/-"`))
}

// container adds a container at the end of a list, or puts it in the place of the one of its
// name. Then it does what else there is to it. The names are those of variables.
func (c *compiler) container(s *sidecar, container corev1.Container, list, names, added, leftOut string, more []string) error {
	value, err := literal(container)
	if err != nil {
		return fmt.Errorf("container %s: %w", container.Name, err)
	}
	value = c.define("container"+s.id, value)
	name := text(container.Name)
	c.define("at"+s.id, fmt.Sprintf(`%s in variables.%s ? variables.%[2]s.indexOf(%[1]s) : variables.%[2]s.size() + variables.%[3]s.indexOf(%[1]s)`, name, names, added))
	put := fmt.Sprintf(`[%s in variables.%s ? %s : %s]`, name, names,
		replaced(fmt.Sprintf(`"/spec/%s/" + string(variables.at%s)`, list, s.id), value), add(fmt.Sprintf(`"/spec/%s/-"`, list), value))
	c.patch("patch"+s.id, fmt.Sprintf(`%s in variables.%s ? [] : %s`, name, leftOut, strings.Join(append([]string{put}, more...), " + ")))
	return nil
}

// place moves new containers to their places. (SCP-5)
func (c *compiler) place(before, after []sidecar) {
	if len(before) > 0 {
		c.define("front", fmt.Sprintf(`[variables.containers.map(c, %s).indexOf(false)].map(n, n < 0 ? variables.names.size() : n)[0]`, c.belongs("<")))
		c.move("movesBefore", fmt.Sprintf(`variables.addedBefore.transformList(n, x, %s)`, moved(
			`"/spec/containers/" + string(variables.names.size() + n)`, `"/spec/containers/" + string(variables.front + n)`)))
	}
	if len(after) > 0 {
		c.define("back", fmt.Sprintf(`variables.containers.map(c, %s).lastIndexOf(false) + 1`, c.belongs(">")))
		c.move("movesAfter", fmt.Sprintf(`variables.addedAfter.transformList(n, x, %s)`, moved(
			`"/spec/containers/" + string(variables.names.size() + variables.addedBefore.size() + n)`,
			`"/spec/containers/" + string(variables.back + variables.addedBefore.size() + n)`)))
	}
}

// belongs tells of a container c whether a SidecarSet has injected it whose name is less or
// greater than that of this one. Records name a hot container once.
func (c *compiler) belongs(than string) string {
	name := map[string]string{"<": "lesser", ">": "greater"}[than]
	c.define(name, fmt.Sprintf(`variables.records.filter(e, e %s %s).map(e, e.findAll(%s).map(s, s.findAll(%s)).flatten()).flatten()`,
		than, text(c.key()), text(`"sidecarList":\[[^\]]*\]`), text(`"[^"]*"`)))
	return fmt.Sprintf(`(%s) && (("\"" + c.name + "\"") in variables.%s || c.name.matches("-[12]$") && ("\"" + c.name.substring(0, c.name.size() - 2) + "\"") in variables.%[2]s)`,
		isInjected("c"), name)
}
