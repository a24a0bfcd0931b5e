package app

import (
	"errors"
	"fmt"
	"os"

	"github.com/spf13/pflag"
	"k8s.io/klog/v2"

	"github.com/podwright/podwright/examples/process"
)

// Main is the whole command: it reads the arguments, which do not include the
// name of the program, and runs a manager until SIGTERM or SIGINT. A second
// signal ends the process at once. It returns the exit code: 0 after an orderly
// end, 1 after a failure, 2 for a wrong command line.
//
// It sets what belongs to a process as a whole, signals and the log among them;
// a program that has its own idea of them calls Run.
func Main(arguments []string) int {
	command, err := parse(arguments, os.Getenv, func(text string) { fmt.Fprint(os.Stdout, text) })
	switch {
	case errors.Is(err, pflag.ErrHelp):
		return 0
	case err != nil:
		fmt.Fprintf(os.Stderr, "podwright-manager: wrong command line:\n%v\n", err)
		return 2
	case command.Version:
		fmt.Println(process.Version("podwright-manager"))
		return 0
	case command.PrintRBAC:
		return process.Print("podwright-manager")(Manifest(command.Config))
	}
	flush, err := process.SetUpLogging(command.LogFormat, command.Verbosity, os.Stderr)
	if err != nil {
		fmt.Fprintf(os.Stderr, "podwright-manager: %v\n", err)
		return 1
	}
	defer flush()

	ctx, stop := process.SignalContext()
	defer stop()
	logger := klog.Background()
	logger.Info("Starting", "version", process.Version("podwright-manager"))
	for _, ignored := range command.Ignored {
		logger.Info("Flag without effect", "flag", ignored)
	}
	if err := Run(klog.NewContext(ctx, logger), command.Config); err != nil {
		logger.Error(err, "Ended with a failure")
		return 1
	}
	logger.Info("Ended in order")
	return 0
}
