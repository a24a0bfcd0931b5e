// SPDX-License-Identifier: Apache-2.0

package documents

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	plugin "github.com/podwright/podwright/examples/kubectl-podwright/cmd"
)

var (
	fenced   = regexp.MustCompile("(?ms)^```(\\w*)\n(.*?)^```$")
	indented = regexp.MustCompile(`(?m)^ {4,}(\S.*)$`)
	inline   = regexp.MustCompile("`([^`\n]+)`")
)

// commandsOf returns the commands that a document names, in blocks and in lines.
func commandsOf(text string) (all []string) {
	text = fenced.ReplaceAllString(text, "")
	for _, m := range slices.Concat(indented.FindAllStringSubmatch(text, -1), inline.FindAllStringSubmatch(text, -1)) {
		line, _, _ := strings.Cut(strings.TrimSpace(m[1]), "  #")
		if words := strings.Fields(line); len(words) > 0 && resolvers[words[0]] != nil {
			all = append(all, line)
		}
	}
	return all
}

// resolvers say what is wrong with the words behind the first one of a command, nil if it can be run. How much they know differs: of what is
// not of this repository they know the commands and which files those name.
var resolvers map[string]func(words []string) error

func init() {
	resolvers = map[string]func([]string) error{
		"make": resolveMake, "go": resolveGo, "kubectl": resolveKubectl, "helm": resolveFiles("install", "uninstall"), "docker": resolveDocker, "apt-get": resolvePackages,
		".ci/run": func([]string) error { return exists(".ci/run") }, "bin/kubectl-podwright": resolvePlugin,
	}
}

// resolve says what is wrong with a command.
func resolve(command string) error {
	var words []string
	for _, word := range strings.Fields(command) {
		words = append(words, strings.Trim(word, "'"))
	}
	if r := resolvers[words[0]]; r != nil {
		return r(words[1:])
	}
	return fmt.Errorf("%s is unknown", words[0])
}

func exists(name ...string) error {
	_, err := os.Stat(filepath.Join(append([]string{repository}, name...)...))
	return err
}

// content returns what is in a file, or in all Go files of a folder and below it. What cannot be read is empty.
func content(name ...string) string {
	var all strings.Builder
	top := filepath.Join(append([]string{repository}, name...)...)
	_ = filepath.WalkDir(top, func(path string, entry fs.DirEntry, err error) error {
		if err == nil && !entry.IsDir() && (strings.HasSuffix(path, ".go") || path == top) {
			data, _ := os.ReadFile(path)
			all.Write(data)
		}
		return nil
	})
	return all.String()
}

// resolveMake wants the target, and variables that the Makefile reads.
func resolveMake(words []string) error {
	makefile := content("Makefile")
	for _, word := range words {
		if variable, _, isVariable := strings.Cut(word, "="); isVariable {
			if !strings.Contains(makefile, "$("+variable+")") {
				return fmt.Errorf("the Makefile does not read %s", variable)
			}
		} else if !strings.Contains(makefile, "\n"+word+":") {
			return fmt.Errorf("the Makefile has no target %s", word)
		}
	}
	return nil
}

// resolveGo wants the program or the package, in either module, with its flags, tests and benchmarks.
func resolveGo(words []string) error {
	if len(words) < 2 {
		return nil // "go test"
	}
	switch words[0] {
	case "get":
		if !strings.Contains(content("go.mod"), "module "+words[1]+"\n") {
			return fmt.Errorf("the module is not %s", words[1])
		}
		return nil
	case "mod":
		return nil
	case "run", "test":
		if words[1] == "-C" && len(words) > 3 { // a module below the examples
			return resolvePackage(words[0], filepath.Join("examples", words[2], words[3]), words[4:])
		}
		err := fmt.Errorf("there is no package %s", words[1])
		for _, module := range []string{".", "examples"} {
			if folder := filepath.Join(module, words[1]); strings.HasPrefix(words[1], "./") && exists(folder) == nil {
				if err = resolvePackage(words[0], folder, words[2:]); err == nil {
					return nil
				}
			}
		}
		return err
	}
	return fmt.Errorf("go %s is unknown", words[0])
}

// resolvePackage wants what arguments of "go run" and "go test" name in a package.
func resolvePackage(command, folder string, arguments []string) error {
	source := content(folder)
	if command == "run" && !strings.Contains(source, "\npackage main\n") {
		return fmt.Errorf("%s is no program", folder)
	}
	own := command == "run" // whether flags are those of the package, and not those of "go test"
	for i, argument := range arguments {
		if argument == "-args" {
			own = true
			continue
		}
		name, _, _ := strings.Cut(strings.TrimLeft(argument, "-"), "=")
		switch {
		case !strings.HasPrefix(argument, "-") || slices.Contains([]string{"help", "rewrite"}, name):
		case own && !strings.Contains(source+content("examples", "process")+content("examples", "kit")+content("internal", "testing/simulation"), `"`+name+`"`):
			return fmt.Errorf("%s has no flag %s", folder, name)
		case !own && (name == "run" || name == "bench") && i+1 < len(arguments) && arguments[i+1] != "^$":
			pattern, _, _ := strings.Cut(arguments[i+1], "/")
			if want, err := regexp.Compile(pattern); err != nil || !slices.ContainsFunc(functions(source, name), want.MatchString) {
				return fmt.Errorf("%s has no function for -%s %s (error %v)", folder, name, arguments[i+1], err)
			}
		}
	}
	return nil
}

// functions returns the tests or the benchmarks of a package.
func functions(source, flag string) (names []string) {
	prefix := map[string]string{"run": "Test", "bench": "Benchmark"}[flag]
	for _, m := range regexp.MustCompile(`(?m)^func (`+prefix+`\w*)\(`).FindAllStringSubmatch(source, -1) {
		names = append(names, m[1])
	}
	return names
}

// resolveKubectl wants a command of kubectl's or of the plugin, and the files that it names.
func resolveKubectl(words []string) error {
	if len(words) > 0 && words[0] == "podwright" {
		return resolvePlugin(words[1:])
	}
	return resolveFiles("apply", "create", "delete", "drain", "exec", "get", "kruise", "patch", "rollout")(words)
}

// resolvePlugin wants a command of the plugin with its flags.
func resolvePlugin(words []string) error {
	words = slices.DeleteFunc(slices.Clone(words), func(word string) bool { return word == "…" })
	root := plugin.New("kubectl podwright", genericclioptions.NewConfigFlags(false), genericiooptions.NewTestIOStreamsDiscard())
	command, rest, err := root.Find(words)
	if err == nil && command == root && len(words) > 0 {
		err = fmt.Errorf("the plugin has no command %s", words[0])
	}
	if err == nil {
		err = command.ParseFlags(rest)
	}
	return err
}

// resolveFiles wants one of some commands, and every file and folder of this repository that it names.
func resolveFiles(commands ...string) func([]string) error {
	return func(words []string) error {
		if len(words) == 0 || !slices.Contains(commands, words[0]) {
			return fmt.Errorf("%v is none of %v", words, commands)
		}
		for _, word := range words[1:] {
			top, _, isPath := strings.Cut(word, "/")
			if isPath && !strings.HasPrefix(word, "-") && exists(top) == nil {
				if err := exists(word); err != nil {
					return err
				}
			}
		}
		return nil
	}
}

// resolveDocker wants the Dockerfile and the target in it.
func resolveDocker(words []string) error {
	if err := resolveFiles("build")(words); err != nil {
		return err
	}
	i, file := slices.Index(words, "--target"), slices.Index(words, "-f")
	if i < 0 || file < 0 || !strings.Contains(content(words[file+1]), " AS "+words[i+1]+"\n") {
		return fmt.Errorf("want a target of the Dockerfile in %v", words)
	}
	return nil
}

// resolvePackages wants the packages that .ci/run installs, but make.
func resolvePackages(words []string) error {
	if want := "packages=(make " + strings.Join(words[1:], " ") + ")\n"; words[0] != "install" || !strings.Contains(content(".ci/run"), want) {
		return fmt.Errorf(".ci/run does not have: %s", want)
	}
	return nil
}

// TestCommands wants what the documents say to run.
func TestCommands(t *testing.T) {
	n := 0
	for _, document := range written {
		for _, command := range commandsOf(read(t, repository, document)) {
			n++
			if err := resolve(command); err != nil {
				t.Errorf("%s: %s: %v", document, command, err)
			}
		}
	}
	if n < 50 {
		t.Errorf("found %d commands", n)
	}
}

// TestResolve wants a mistake in each kind of command to be found.
func TestResolve(t *testing.T) {
	for command, wrong := range map[string]string{
		"make demo KIND=spread NODE=real": "", "make cake": "has no target cake", "make demo COLOR=red": "does not read COLOR",
		"go run ./tests/evictions -cache -parallel 1": "", "go run ./tests/evictions -speed": "has no flag speed", "go run ./tests/documents": "is no program", "go run ./nothing": "no package",
		"go test ./workloads/cloneset -run TestStories": "", "go test ./workloads/cloneset -run TestCake": "no function for -run TestCake",
		"go test ./workloads/cloneset -run '^$' -bench Plan -benchmem": "", "go test ./workloads/cloneset -run '^$' -bench Flight": "no function for -bench Flight",
		"go test ./workloads/cloneset -run 'TestSimulation$' -args -seed=7": "", "go test ./workloads/cloneset -args -plant=7": "has no flag plant",
		"go get github.com/podwright/podwright": "", "go get github.com/podwright/other": "the module is not", "go fly x": "unknown",
		"kubectl podwright plan cloneset/web -f web.yaml": "", "kubectl podwright dance": "unknown command", "kubectl podwright plan --loud": "unknown flag",
		"kubectl apply -f workloads/crds/apps.kruise.io_clonesets.yaml": "", "kubectl apply -f workloads/crds/none.yaml": "no such file", "kubectl sing": "none of",
		"helm install podwright examples/install/chart": "", "helm install podwright examples/install/charts": "no such file",
		"docker build -f examples/install/Dockerfile --target manager .": "", "docker build -f examples/install/Dockerfile --target cake .": "want a target",
		"apt-get install make": ".ci/run does not have", ".ci/run": "", "bin/kubectl-podwright explain cloneset/NAME": "", "bin/nothing": "unknown",
	} {
		err := resolve(command)
		if wrong == "" && err != nil || wrong != "" && (err == nil || !strings.Contains(err.Error(), wrong)) {
			t.Errorf("%s: got error %v, want %q", command, err, wrong)
		}
	}
}
