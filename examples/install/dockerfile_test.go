// SPDX-License-Identifier: Apache-2.0

package install

import (
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/moby/buildkit/frontend/dockerfile/instructions"
	"github.com/moby/buildkit/frontend/dockerfile/parser"
)

// repository is the root of it.
const repository = "../.."

// stages returns the stages of the Dockerfile by name.
func stages(t *testing.T) map[string]instructions.Stage {
	t.Helper()
	file, err := os.Open("Dockerfile")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	parsed, err := parser.Parse(file)
	if err != nil {
		t.Fatal(err)
	}
	all, _, err := instructions.Parse(parsed.AST, nil)
	if err != nil {
		t.Fatal(err)
	}
	byName := map[string]instructions.Stage{}
	for _, stage := range all {
		byName[stage.Name] = stage
	}
	return byName
}

// commands returns the instructions of a type that a stage has.
func commands[T instructions.Command](stage instructions.Stage) (found []T) {
	for _, command := range stage.Commands {
		if c, ok := command.(T); ok {
			found = append(found, c)
		}
	}
	return found
}

// The images have nothing but the license and one program, which "make build" makes in the stage before, and run it as the
// manifests do. No image is built here: that takes Docker.
func TestDockerfile(t *testing.T) {
	all := stages(t)
	build := all["build"]
	workdir := commands[*instructions.WorkdirCommand](build)[0].Path
	for name, user := range map[string]string{"manager": fmt.Sprintf("%d:%[1]d", anyUser), "nodeagent": ""} {
		stage, ok := all[name]
		if !ok || stage.BaseName != "scratch" {
			t.Errorf("%s is made from %q, want scratch", name, stage.BaseName)
			continue
		}
		var copied []string
		for _, c := range commands[*instructions.CopyCommand](stage) {
			copied = append(copied, c.From+":"+strings.Join(c.SourcePaths, " ")+" "+c.DestPath)
		}
		if want := []string{":LICENSE /", "build:" + path.Join(workdir, "bin", name) + " /" + name}; !slices.Equal(copied, want) {
			t.Errorf("%s copies %q, want %q", name, copied, want)
		}
		if entry := commands[*instructions.EntrypointCommand](stage); len(entry) != 1 || entry[0].PrependShell || !slices.Equal(entry[0].CmdLine, []string{"/" + name}) {
			t.Errorf("%s runs %+v", name, entry)
		}
		var users []string
		for _, c := range commands[*instructions.UserCommand](stage) {
			users = append(users, c.User)
		}
		if got := strings.Join(users, " "); got != user {
			t.Errorf("%s runs as %q, want %q", name, got, user)
		}
	}
	if _, err := os.Stat(filepath.Join(repository, "LICENSE")); err != nil {
		t.Error(err)
	}
	run := strings.Join(commands[*instructions.RunCommand](build)[0].CmdLine, " ")
	if !strings.Contains(run, "CGO_ENABLED=0 ") || !strings.HasSuffix(run, " make build") {
		t.Errorf("the programs are built by %q, want them without libraries of the system, by make build", run)
	}
	if !slices.ContainsFunc(commands[*instructions.ArgCommand](build), func(c *instructions.ArgCommand) bool { return c.Args[0].Key == "VERSION" && c.Args[0].Value == nil }) {
		t.Error("the build does not read VERSION, which names the release")
	}
	dry, err := exec.Command("make", "-C", repository, "-n", "build").CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, dry)
	}
	for _, want := range []string{"-o ../bin/", "./manager", "./nodeagent"} {
		if !strings.Contains(string(dry), want) {
			t.Errorf("make build does not have %s:\n%s", want, dry)
		}
	}
}

// Go is the version that the modules ask for.
func TestGoOfTheDockerfile(t *testing.T) {
	module, err := os.ReadFile(filepath.Join(repository, "examples", "go.mod"))
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(module), "\ngo ")
	version, _, _ := strings.Cut(rest, "\n")
	if version = version[:strings.LastIndex(version, ".")]; stages(t)["build"].BaseName != "golang:"+version {
		t.Errorf("built with %s, go.mod asks for %s", stages(t)["build"].BaseName, version)
	}
}
